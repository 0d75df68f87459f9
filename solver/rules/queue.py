"""Queue: under `strict`, no run starts before an earlier one of its queue that could ever start."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stowplan.solver.program.linear import Row

if TYPE_CHECKING:
    from stowplan.solver.choices import Choices


def post(choices: Choices) -> Iterator[Row]:
    """start_of(later) <= count(later) x start_of(earlier), for each pair of neighbours in line."""
    for earlier, later in choices.limits.neighbours_in_line:
        yield choices.start_of(later) <= choices.start_of(earlier) * later.count
