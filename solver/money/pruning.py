"""Pruning: offerings that no run needs, for a host that is no worse is always left to it.

Exact: of a class's hosts from the best on, instances of offerings are counted until they hold as
many workers as could want what is kept of them. Of classes whose purses can run short all workers
count, and only hosts that cost no more either. What is kept grows until it is enough for what is
kept: then whoever is elsewhere can be moved there, one after the other, and whoever is there
already can stay. What lies within the band of the last one, or of one kept for its cost, is kept
too, so that later stages have their choice.
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
ROUNDS = 16
"""How often that is found anew; then every class is left a host by all others."""


def pruned(grid: Grid) -> Grid:
    """Return the grid without hosts that no class needs."""
    if all(each is None for each in grid.appraisals):
        return grid
    ranked = [
        None if each is None or each.of_run else _Ranked(grid, each) for each in grid.appraisals
    ]
    workers = np.array([each.count * (each.ask.tasks or 0) for each in grid.classes], np.int64)
    everyone = int(workers.sum())
    rivals, short, rounds = workers, frozenset[int](), 0
    while True:
        kept = [
            np.ones(len(there), np.bool_)
            if each is None
            else each.kept(everyone if index in short else int(rivals[index]), index in short)
            for index, (each, there) in enumerate(zip(ranked, grid.where, strict=True))
        ]
        rounds += 1
        found = _rivals(grid, kept, workers) if rounds < ROUNDS else rivals * 0 + everyone
        poor = short | _short_of_money(grid, kept, workers)
        if (found == rivals).all() and poor == short:
            return grid.narrowed([np.nonzero(own)[0] for own in kept])
        rivals, short = found, poor


class _Ranked:
    """The hosts of a class from the best on, with the instances that each of them has."""

    def __init__(self, grid: Grid, each: Appraisal) -> None:
        self.each, self.order = each, each.order()
        self.offered = grid.offered[each.hosts][self.order]
        self.instances = np.where(self.offered, grid.instances[each.hosts][self.order], 0)
        self.held = np.cumsum(self.instances)
        self._found: tuple[tuple[int, bool], Bools] | None = None

    def kept(self, rivals: int, by_cost: bool) -> Bools:
        """Return which hosts are kept, where so many workers could want them."""
        if self._found is None or self._found[0] != (rivals, by_cost):
            kept = np.zeros(len(self.order), np.bool_)
            kept[self.order] = self._kept(rivals, by_cost)
            self._found = (rivals, by_cost), kept
        return self._found[1]

    def _kept(self, rivals: int, by_cost: bool) -> Bools:
        each, order = self.each, self.order
        kept = ~self.offered
        enough = int(np.searchsorted(self.held, rivals))  # the last that is needed
        kept[: enough + 1] = True
        if enough < len(order):
            needed = [enough]
            if by_cost:
                cheaper = _cheaper(each.cost[order], self.instances, enough + 1, rivals)
                kept |= cheaper
                needed += np.nonzero(cheaper)[0].tolist()
            self._keep_as_good(kept, needed)
        return kept

    def _keep_as_good(self, kept: Bools, needed: Sequence[int]) -> None:
        """Keep what is within the band of those that are needed beyond the best, too."""
        each = self.each
        tiers, measures = each.tier[self.order], each.measure[self.order]
        for at in needed:
            tier, measure = int(tiers[at]), int(measures[at])
            begin, end = np.searchsorted(tiers, (tier, tier + 1))
            limit = each.limit(tier, measure)
            end = begin + np.searchsorted(measures[begin:end], limit, side="right")
            kept[at:end] = True


def _rivals(grid: Grid, kept: Sequence[Bools], workers: Ints) -> Ints:
    """Return for each class how many workers, its own too, could want hosts that it keeps."""
    if len(workers) > COMPARED:
        return np.full(len(workers), workers.sum(), np.int64)
    wants = np.zeros((len(grid.classes), len(grid.hosts)), np.bool_)
    for index, (there, own) in enumerate(zip(grid.where, kept, strict=True)):
        wants[index, there[own]] = True
    wants = wants[:, grid.offered & wants.any(axis=0)]
    touching = (wants.astype(np.float32) @ wants.T.astype(np.float32)) > 0
    rivals: Ints = touching @ workers
    return np.maximum(rivals, workers)


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


def _short_of_money(grid: Grid, kept: Sequence[Bools], workers: Ints) -> frozenset[int]:
    """Return the classes paid from a purse that what is kept could overdraw."""
    short: set[int] = set()
    for purse in grid.eligibility.prices.purses:
        members = [index for index, keys in enumerate(grid.purses_of) if purse.key in keys]
        most = 0
        for index in members:
            each = grid.appraisals[index]
            if each is not None and kept[index].any():
                most += int(each.cost[kept[index]].max()) * int(workers[index])
        if most > purse.micro:
            short.update(members)
    return frozenset(short)
