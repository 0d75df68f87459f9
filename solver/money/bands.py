"""Bands: what the value stage leaves each run, and how little worse than that it may end up.

Of runs that ask the same, what they were left and what they end up with are both sorted, and
compared rank by rank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from stowplan.solver.choices import Choices
from stowplan.solver.grid import Grid
from stowplan.solver.layout import Layout, References
from stowplan.solver.money.appraisal import Appraisal
from stowplan.solver.money.prices import Bools, Ints
from stowplan.solver.program.linear import Row, total

type Standing = tuple[int, int]
"""A tier, and a measure in it: the lower the better."""


def standings(layout: Layout) -> References:
    """Return what the workers of each class have, the best first; nothing where nothing counts."""
    found: list[list[Standing]] = [[] for _ in layout.grid.classes]
    for host, there in enumerate(layout.by_host()):
        for index, workers in there:
            each = layout.grid.appraisals[index]
            if each is not None:
                at = each.at(host)
                found[index] += [(int(each.tier[at]), int(each.measure[at]))] * workers
    return [sorted(own) for own in found]


def banded(grid: Grid, references: References) -> Grid:
    """Return the grid with those hosts only that are within the band of some worker."""
    kept = []
    for there, each, own in zip(grid.where, grid.appraisals, references, strict=True):
        if each is None:
            kept.append(np.arange(len(there)))
        else:
            inside = np.zeros(len(there), np.bool_)
            for standing in set(own):
                inside |= within(each, standing)
            kept.append(np.nonzero(inside)[0])
    return grid.narrowed(kept)


def rows(choices: Choices, references: References) -> Iterator[Row]:
    """Yield for each class and rank: so many workers stay within the band of what they had."""
    for each in choices.signatures:
        (index,) = each.members
        appraisal = choices.grid.appraisals[index]
        if appraisal is None or not references[index]:
            continue
        at_least = 0
        for standing, workers in sorted(Counter(references[index]).items()):
            at_least += workers
            inside = _hosts(choices, index, within(appraisal, standing))
            yield (
                total(
                    choices.workers_in(each, cell)
                    for cell in choices.cells_for(each)
                    if int(cell.hosts[0]) in inside
                )
                + choices.elsewhere_in(each, inside)
                >= at_least
            )


def are_kept(layout: Layout, references: References) -> bool:
    """Whether every worker is within the band of what the one of its rank was left."""
    for each, own, left in zip(layout.grid.appraisals, standings(layout), references, strict=True):
        for (tier, measure), (best, reference) in zip(own, left, strict=True):
            assert each is not None  # only then are there standings
            if tier > best or (tier == best and measure > each.limit(best, reference)):
                return False
    return True


def within(each: Appraisal, standing: Standing) -> Bools:
    """Return the hosts that are as good as a standing: of a better tier, or within its band."""
    tier, measure = standing
    inside: Bools = (each.tier < tier) | (
        (each.tier == tier) & (each.measure <= each.limit(tier, measure))
    )
    return inside


def _hosts(choices: Choices, index: int, inside: Bools) -> set[int]:
    hosts: Ints = choices.grid.where[index][inside]
    return set(hosts.tolist())
