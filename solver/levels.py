"""Levels: a host takes whole workers, so that what many hosts have free isn't all of use.

Not a rule of its own: what each host's room implies for hosts taken together. A worker that asks g
counts floor(g / s) on level s, and a host with f free bears floor(f / s) of them:

    sum of floor(g / s) x workers <= sum over hosts of floor(f / s)

And a worker that asks for more than any host has sound takes the rest at risk.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

import numpy as np

from stowplan.solver.cells import Cell, Kind, Signature
from stowplan.solver.grid import CORES, MEMORY, Ints
from stowplan.solver.program.linear import Row

if TYPE_CHECKING:
    from stowplan.solver.choices import Choices

MOST = 8
"""How many levels a column has at most: those of the largest asks say the most."""

type Amount = Callable[[Signature], int]


def post(choices: Choices) -> Iterator[Row]:
    """Yield the rows of each cell's cores, memory and pools of GPUs, at the sizes asked for."""
    room = choices.grid.room
    for cell in choices.cells:
        if cell.instances is not None:
            continue  # each worker has an instance of its own
        if cell.cores_bind:
            yield from _rows(
                choices, cell, room[CORES, cell.hosts], lambda each: each.ask.millicores
            )
        if cell.memory_binds:
            yield from _rows(
                choices, cell, room[MEMORY, cell.hosts], lambda each: each.ask.memory_bytes
            )
        pools = {
            tuple(choices.kinds_for(each, cell)): each
            for each in choices.signatures_in(cell)
            if each.ask.gpus
        }
        for pool, widest in pools.items():
            free = choices.grid.free_for(widest.members[0], cell.hosts)
            yield from _rows(choices, cell, free, _gpus_within(choices, cell, pool))
        if any(kind.at_risk for kind in cell.kinds):
            yield choices.at_risk_in(cell) >= choices.over(cell, _beyond(cell.most_sound))


def _beyond(sound: int) -> Amount:
    """Return the GPUs at risk that a worker takes at least, where so many that aren't are free."""
    return lambda each: max(0, each.ask.gpus - sound)


def _rows(choices: Choices, cell: Cell, free: Ints, amount: Amount) -> Iterator[Row]:
    free = np.maximum(free, 0)
    sizes = {amount(each) for each in choices.signatures_in(cell)} - {0}
    for size in sorted(sizes, reverse=True)[:MOST]:
        whole = int((free // size).sum())
        if whole * size < int(free.sum()):
            yield choices.over(cell, _floors(amount, size)) <= whole


def _floors(amount: Amount, size: int) -> Amount:
    return lambda each: amount(each) // size


def _gpus_within(choices: Choices, cell: Cell, pool: Collection[Kind]) -> Amount:
    """Return the GPUs a worker asks, of signatures that can use no other kinds than these."""

    def amount(each: Signature) -> int:
        return each.ask.gpus if set(choices.kinds_for(each, cell)) <= set(pool) else 0

    return amount
