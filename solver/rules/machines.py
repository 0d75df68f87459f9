"""Machines: a run starts with all its workers, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stowplan.solver.program.linear import Row

if TYPE_CHECKING:
    from stowplan.solver.choices import Choices


def post(choices: Choices) -> Iterator[Row]:
    """Sum over cells of workers_in(signature, cell) = sum over its classes of tasks x starts."""
    for each in choices.signatures:
        yield choices.workers(each).equals(choices.workers_started(each))
