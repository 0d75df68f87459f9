"""Pruning: offerings that no run needs, for a host that is no worse is always left to it.

Exact: of a class's hosts from the best on, instances of offerings are counted until they hold as
many workers as could want them. Where a purse can run short only those count that cost no more
either. What lies within the band of the last one is kept, so that later stages have
their choice.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from stowplan.solver.grid import Grid
from stowplan.solver.money.appraisal import Appraisal
from stowplan.solver.money.prices import Bools, Ints

COMPARED = 500
"""Classes up to which it is found which of them could want the same hosts."""
ROUNDS = 4
"""How often the runs that could want the same hosts are counted anew."""


def pruned(grid: Grid) -> Grid:
    """Return the grid without hosts that no class needs."""
    appraisals = grid.appraisals
    if all(each is None for each in appraisals):
        return grid
    kept = [np.ones(len(there), np.bool_) for there in grid.where]
    for _ in range(ROUNDS):
        rivals = _rivals(grid, kept)
        found = [
            there if each is None else _kept(grid, index, each, int(rivals[index]), by_cost=False)
            for index, (each, there) in enumerate(zip(appraisals, kept, strict=True))
        ]
        is_done = all((a == b).all() for a, b in zip(found, kept, strict=True))
        kept = found
        if is_done:
            break
    for index in _short_of_money(grid, kept):
        each = appraisals[index]
        if each is not None:
            rivals_of_all = sum(own.count * (own.ask.tasks or 0) for own in grid.classes)
            kept[index] |= _kept(grid, index, each, rivals_of_all, by_cost=True)
    return grid.narrowed([np.nonzero(own)[0] for own in kept])


def _rivals(grid: Grid, kept: Sequence[Bools]) -> Ints:
    """Return for each class how many workers, its own too, could want hosts that it keeps."""
    workers = np.array([each.count * (each.ask.tasks or 0) for each in grid.classes], np.int64)
    if len(workers) > COMPARED:
        return np.full(len(workers), workers.sum(), np.int64)
    wants = np.zeros((len(grid.classes), len(grid.hosts)), np.bool_)
    for index, (there, own) in enumerate(zip(grid.where, kept, strict=True)):
        wants[index, there[own]] = True
    wants &= grid.offered
    touching = (wants.astype(np.float32) @ wants.T.astype(np.float32)) > 0
    rivals: Ints = touching @ workers
    return np.maximum(rivals, workers)


def _kept(grid: Grid, index: int, each: Appraisal, rivals: int, *, by_cost: bool) -> Bools:
    """Return which of a class's hosts are kept, where so many workers could want them."""
    order = each.order()
    offered = grid.offered[each.hosts][order]
    instances = np.where(offered, grid.instances[each.hosts][order], 0)
    kept_in_order = ~offered
    enough = int(np.searchsorted(np.cumsum(instances), rivals))  # the last that is needed
    kept_in_order[: enough + 1] = True
    if by_cost and enough < len(order):
        cost = each.cost[order]
        kept_in_order |= _cheaper(cost, instances, enough + 1, rivals)
    if enough < len(order):
        last = order[enough]
        limit = each.limit(int(each.tier[last]), int(each.measure[last]))
        kept_in_order |= (each.tier[order] == each.tier[last]) & (each.measure[order] <= limit)
    kept = np.zeros(len(order), np.bool_)
    kept[order] = kept_in_order
    return kept


def _cheaper(cost: Ints, instances: Ints, begin: int, rivals: int) -> Bools:
    """Return the hosts from `begin` on that are cheaper than some of the best so far.

    One is needed unless those before it that cost no more hold as many as could want them.
    """
    kept = np.zeros(len(cost), np.bool_)
    cheapest: list[tuple[int, int]] = []  # (-cost, instances): the fewest that hold all rivals
    held = 0

    def count(position: int) -> None:
        nonlocal held
        heapq.heappush(cheapest, (-int(cost[position]), int(instances[position])))
        held += int(instances[position])
        while held - cheapest[0][1] >= rivals:
            held -= heapq.heappop(cheapest)[1]

    for position in np.nonzero(instances[:begin])[0].tolist():
        count(position)
    rest = np.arange(begin, len(cost))
    rest = rest[cost[rest] < -cheapest[0][0]] if cheapest else rest
    for position in rest.tolist():
        if held < rivals or cost[position] < -cheapest[0][0]:
            kept[position] = True
            count(position)
    return kept


def _short_of_money(grid: Grid, kept: Sequence[Bools]) -> list[int]:
    """Return the classes paid from a purse that what is kept could overdraw."""
    short: set[int] = set()
    for purse in grid.eligibility.prices.purses:
        members = [
            index
            for index, each in enumerate(grid.classes)
            if each.ask.workspace in purse.workspaces
        ]
        most = 0
        for index in members:
            each, own = grid.appraisals[index], grid.classes[index]
            if each is not None and kept[index].any():
                dearest = int(each.cost[kept[index]].max())
                most += dearest * own.count * (own.ask.tasks or 0)
        if most > purse.micro:
            short.update(members)
    return sorted(short)
