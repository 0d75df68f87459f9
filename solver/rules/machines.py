"""Machines: a run starts with all its workers, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stowplan.solver.linear import Row, total

if TYPE_CHECKING:
    from stowplan.solver.choices import Choices


def post(choices: Choices) -> Iterator[Row]:
    """Sum over hosts of workers_on(class, host) = tasks x starts(class)."""
    for each in choices.classes:
        workers = total(choices.workers_on(each, host) for host in choices.hosts_for(each))
        yield workers.equals(choices.starts(each) * (each.ask.tasks or 0))
