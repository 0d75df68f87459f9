"""Spread: two workers of one run are never on one machine, unless the run lets them share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stowplan.solver.program.linear import Row

if TYPE_CHECKING:
    from stowplan.solver.choices import Choices


def post(choices: Choices) -> Iterator[Row]:
    """workers_in(class, cell) <= starts(class) x hosts of the cell.

    Enough for exactness: counts with these bounds and the right sum can always be dealt out so
    that each run gets different hosts (Gale-Ryser with equal rows).
    """
    for each in choices.signatures:
        if each.keeps_apart:
            (own,) = each.classes
            for cell in choices.cells_for(each):
                yield choices.workers_in(each, cell) <= choices.starts(own) * len(cell.hosts)
