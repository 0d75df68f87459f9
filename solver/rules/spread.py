"""Spread: two workers of one run are never on one machine, unless the run lets them share; nor in
one rack or fabric, where it says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stowplan.model.reasons import Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host
from stowplan.solver.program.linear import Row, total
from stowplan.solver.rules.keep_within import unlabelled

if TYPE_CHECKING:
    from stowplan.solver.choices import Choices


ASKED_BY = "spread"


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """TOPOLOGY_UNLABELLED of a run of several workers, where nothing tells what the host is in."""
    return unlabelled(ask, host, ask.spread, "spread")


def post(choices: Choices) -> Iterator[Row]:
    """workers_in(class, cell) <= starts(class) x hosts of the cell; over all cells of a rack, or a
    fabric, the sum is at most starts(class). Each instance of an offering is a host of its own.

    Enough for exactness: counts with these bounds and the right sum can always be dealt out so
    that each run gets different hosts, or racks (Gale-Ryser with equal rows).
    """
    for each in choices.signatures:
        if each.keeps_apart:
            (own,) = each.classes
            for cell in choices.cells_for(each):
                if cell.instances is not None:
                    continue
                yield choices.workers_in(each, cell) <= choices.starts(own) * len(cell.hosts)
            if each.ask.spread in ("rack", "fabric"):
                for cells in choices.cells_by(each, each.ask.spread):
                    there = total(choices.workers_in(each, cell) for cell in cells)
                    yield there <= choices.starts(own)
