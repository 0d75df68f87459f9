"""Array limit: an array never has more elements running at once than it allows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stowplan.solver.program.linear import Row

if TYPE_CHECKING:
    from stowplan.solver.choices import Choices


def post(choices: Choices) -> Iterator[Row]:
    """starts(array) <= max_parallel - elements that run."""
    for each in choices.classes:
        left = choices.limits.parallel_left.get(each.ask.array or "")
        if left is not None:
            yield choices.starts(each) <= max(0, left)
