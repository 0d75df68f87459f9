"""What runs want of their groups: tight ones, few machines, and little room left there.

Figures are of a run, and count for machines only: one that is on a single machine, or is bought,
counts 0 for rung and machines.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from stowplan.solver.asks import RunClass
from stowplan.solver.choices import Choices
from stowplan.solver.grid import Grid, Ints
from stowplan.solver.layout import Layout
from stowplan.solver.options import rung_of
from stowplan.solver.program.linear import Sum, total


class Sought(NamedTuple):
    """A sum to be as small as can be, with a bound that needs no search."""

    name: str
    terms: Sum
    least: int


def goals(choices: Choices) -> Iterator[Sought]:
    """Yield the rungs, the machines, and the room left, each over all that starts."""
    yield Sought("rung", total(choices.starts(e) * rungs(e) for e in choices.classes), 0)
    yield Sought("machines", total(choices.starts(e) * machines(e) for e in choices.classes), 0)
    yield Sought("room", room(choices), 0)


def room(choices: Choices) -> Sum:
    """Return the room left: of a run of several workers in its group, of others where each is."""
    left = [choices.starts(e) * room_left(e) for e in choices.classes if e.group]
    for each in choices.signatures:
        if each.classes[0].group is None and each.ask.tasks == 1:
            left.append(choices.weighed(each, lambda index: room_of_one(choices.grid, index)))
    return total(left)


def least_room(layout: Layout) -> int:
    """Return how little room what starts could leave, each run alone where it leaves the least."""
    least = 0
    for index, (each, started) in enumerate(zip(layout.grid.classes, layout.started, strict=True)):
        runs = sum(started)
        if runs and each.group is not None:
            least += runs * room_left(each)
        elif runs and each.ask.tasks == 1:
            least += runs * int(room_of_one(layout.grid, index).min())
    return least


def is_bought(each: RunClass) -> bool:
    """Whether its runs, of several workers, are on offerings."""
    return each.group is not None and each.group.is_bought


def rungs(each: RunClass) -> int:
    """Return how many rungs below a single machine its runs are; none where they are bought."""
    return 0 if is_bought(each) else rung_of(each.group) - 1


def machines(each: RunClass) -> int:
    """Return how many machines more than one its runs take; workers that share count apart."""
    return 0 if is_bought(each) else (each.ask.tasks or 1) - 1


def room_left(each: RunClass) -> int:
    """Return the free GPUs of its group at the start, less those of a run; none of offerings."""
    assert each.group is not None
    if is_bought(each):
        return 0
    return each.group.left(each.ask.all_gpus)


def room_of_one(grid: Grid, index: int) -> Ints:
    """Return the same by host for a single worker: of the NVLink domain it is in, else nothing."""
    free = grid.eligibility.ladder.room_of_one[grid.where[index]]
    left: Ints = np.where(free >= 0, free - grid.classes[index].ask.gpus, 0)
    return left


def of_layout(layout: Layout) -> tuple[int, int, int]:
    """Return the rungs, machines and room left of all that a layout starts."""
    rung = count = room = 0
    for each, started in zip(layout.grid.classes, layout.started, strict=True):
        runs = sum(started)
        if runs and each.group is not None:
            rung += runs * rungs(each)
            count += runs * machines(each)
            room += runs * room_left(each)
    for host, there in enumerate(layout.there):
        for index, workers in there.items():
            each = layout.grid.classes[index]
            if each.group is None and each.ask.tasks == 1:
                free = int(layout.grid.eligibility.ladder.room_of_one[host])
                room += workers * (free - each.ask.gpus if free >= 0 else 0)
    return rung, count, room
