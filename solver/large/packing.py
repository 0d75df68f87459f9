"""From cells to hosts: the workers of each cell, one after the other, onto the hosts it is made of.

Where only GPUs run short and sizes divide each other, largest first on the fullest host always
packs what the levels allow. Elsewhere workers go where most cores and memory are left for each GPU,
so that what stays is of use; what can't be packed is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from stowplan.solver.cells import Cell
from stowplan.solver.choices import Choices
from stowplan.solver.greedy import Choice, fullest_first
from stowplan.solver.grid import ALL, CORES, MEMORY, Grid, Ints
from stowplan.solver.layout import Layout, in_turn

AT_ONCE = 4
"""A quarter of the hosts, those with the most room, take one worker each before all are compared
again: as good as one by one, and faster."""


type Order = Callable[[Grid, int], tuple[float, ...]]
"""Which classes are packed first: those with the greatest."""


def packed(choices: Choices, values: Sequence[int]) -> Layout:
    """Return the layout that the values come to, less what its hosts can't take.

    The largest workers go first, and GPUs at risk are spared. If some runs are left over, again
    with others than those that need sound GPUs on GPUs at risk before all, and again with the
    heaviest for their GPUs first; the best is taken.
    """
    layout = _packed(choices, values, _largest, fullest_first)
    if layout.started == choices.started(values):
        return layout
    others = ((_largest, riskiest_first), (_heaviest, fullest_first))
    packings = (_packed(choices, values, order, choice) for order, choice in others)
    return max(layout, *packings, key=Layout.weights)


def _packed(choices: Choices, values: Sequence[int], order: Order, choice: Choice) -> Layout:
    """A class of several workers a run of which any can't be packed starts none of them here."""
    grid = choices.grid
    layout = Layout(grid)
    most = [sum(started) for started in choices.started(values)]
    wanted = [most[index] * (each.ask.tasks or 0) for index, each in enumerate(grid.classes)]
    for cell in choices.cells:
        dealt = _dealt(choices, cell, values, wanted)
        for index, workers in sorted(dealt, key=lambda pair: order(grid, pair[0]), reverse=True):
            _pack(layout, cell, index, workers, most[index], choice)
    for index, each in enumerate(grid.classes):
        tasks = each.ask.tasks or 1
        if tasks > 1 and layout.placed[index] < most[index] * tasks:
            layout.clear(index)
        layout.start_oldest(index, layout.placed[index] // tasks)
    return layout


def _dealt(
    choices: Choices, cell: Cell, values: Sequence[int], wanted: list[int]
) -> list[tuple[int, int]]:
    """Return how many workers of which classes a cell gets, and take them from those wanted."""
    dealt = []
    for each in choices.signatures_in(cell):
        workers = choices.workers_in(each, cell).at(values)
        for index in each.members:
            some = min(workers, wanted[index])
            if some:
                dealt.append((index, some))
                wanted[index] -= some
                workers -= some
    return dealt


def _largest(grid: Grid, index: int) -> tuple[float, ...]:
    ask = grid.classes[index].ask
    cores, memory = np.maximum(grid.mean_per_gpu, 1)
    return ask.gpus, ask.healthy_only, max(ask.millicores / cores, ask.memory_bytes / memory)


def _heaviest(grid: Grid, index: int) -> tuple[float, ...]:
    each = grid.classes[index]
    age = max(cohort.weight for cohort in each.cohorts) / each.ask.units
    return each.ask.priority, age, *_largest(grid, index)


def _pack(
    layout: Layout, cell: Cell, index: int, workers: int, most_on_one: int, choice: Choice
) -> None:
    """Put workers of a class on the hosts of a cell, as many as fit."""
    grid = layout.grid
    at = grid.positions(index, cell.hosts)
    tight = cell.cores_bind or cell.memory_binds
    while workers and len(at):
        room = layout.slots(index, at)
        if grid.classes[index].ask.keeps_apart:
            there = [layout.there[host].get(index, 0) for host in grid.where[index][at].tolist()]
            room = np.minimum(room, most_on_one - np.array(there, np.int64))
        at, room = at[room > 0], room[room > 0]
        if tight:
            order = _roomiest_first(layout, index, at)[: max(1, len(at) // AT_ONCE)]
            taken = np.ones(len(order), np.int64)[:workers]
        else:
            order = choice(layout, index, at)
            taken = in_turn(workers, room[order])
        taken = layout.afforded(index, at[order[: len(taken)]], taken)
        order, taken = order[: len(taken)][taken > 0], taken[taken > 0]
        if not len(taken):
            break
        layout.put(index, at[order], taken)
        workers -= int(taken.sum())


def riskiest_first(layout: Layout, index: int, at: Ints | slice = ALL) -> Ints:
    """Hosts with the most GPUs at risk left, for who may have them: sound ones stay for others."""
    grid = layout.grid
    if grid.classes[index].ask.healthy_only:
        return fullest_first(layout, index, at)
    hosts, gpus = grid.where[index][at], max(1, grid.classes[index].ask.gpus)
    free = layout.free[hosts]
    return np.lexsort((free, free % gpus, layout.sound[hosts].clip(0) - free))


def _roomiest_first(layout: Layout, index: int, at: Ints) -> Ints:
    """Hosts with the most cores and memory left for each free GPU; of those for more than one GPU,
    and for work without, the hosts with the fewest free."""
    grid, gpus = layout.grid, layout.grid.classes[index].ask.gpus
    hosts = grid.where[index][at]
    free = layout.free[hosts]
    scale = np.maximum(grid.mean_per_gpu, 1)[:, None] * np.maximum(free, 1)
    slack = (layout.room[[CORES, MEMORY]][:, hosts] / scale).min(axis=0)
    return np.lexsort((-slack, free)) if gpus != 1 else np.lexsort((free, -slack))


MOST_MISSING = 50
"""Runs up to which room is made for each that wasn't packed."""


def make_room(layout: Layout, started: Sequence[Sequence[int]]) -> None:
    """Start the runs of one worker that are still missing, each where one other worker can leave.

    What leaves goes where it fits best; of more than a few missing runs none is tried.
    """
    grid = layout.grid
    missing = [
        (index, cohort)
        for index, counts in enumerate(started)
        for cohort, count in enumerate(counts)
        for _ in range(count - layout.started[index][cohort])
        if grid.classes[index].ask.tasks == 1
    ]
    for index, cohort in missing if len(missing) <= MOST_MISSING else ():
        if _move_one(layout, index):
            layout.started[index][cohort] += 1


def _move_one(layout: Layout, index: int) -> bool:
    """Put a worker of a class where another can leave; return whether there is such a place."""
    grid = layout.grid
    one = np.ones(1, np.int64)
    for at, host in enumerate(grid.where[index].tolist()):
        for other, workers in layout.on(host):
            if grid.classes[other].ask.keeps_apart:
                continue
            layout.set(other, host, workers - 1)
            if layout.slots(index)[at] > 0:
                layout.put(index, np.array([at]), one)
                slots = layout.slots(other)
                order = fullest_first(layout, other)
                order = order[slots[order] > 0]
                if len(order):
                    layout.put(other, order[:1], one)
                    return True
                layout.put(index, np.array([at]), -one)
            layout.set(other, host, workers)
    return False
