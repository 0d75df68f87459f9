"""Bands: what the value stage leaves each run, and how little worse than that it may end up.

Of runs that ask the same, what they were left and what they end up with are both sorted, and
compared rank by rank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from stowplan.solver.asks import RunClass
from stowplan.solver.cells import Signature
from stowplan.solver.choices import Choices
from stowplan.solver.grid import Grid
from stowplan.solver.layout import Layout, References
from stowplan.solver.money.appraisal import Appraisal
from stowplan.solver.money.caps import capped
from stowplan.solver.money.prices import Bools, Ints
from stowplan.solver.program.linear import Row, total

type Standing = tuple[int, int]
"""A tier, and a measure in it: the lower the better."""


def standings(layout: Layout) -> References:
    """Return what the workers of each class have, the best first; nothing where nothing counts."""
    found: list[list[Standing]] = [[] for _ in layout.grid.classes]
    of_runs: dict[int, list[tuple[int, int]]] = {}
    for host, there in enumerate(layout.by_host()):
        for index, workers in there:
            each = layout.grid.appraisals[index]
            if each is not None and each.of_run:
                of_runs.setdefault(index, []).append((host, workers))
            elif each is not None:
                at = each.at(host)
                found[index] += [(int(each.tier[at]), int(each.measure[at]))] * workers
    for index, workers_on in of_runs.items():
        each, runs = layout.grid.appraisals[index], sum(layout.started[index])
        assert each is not None
        # Several runs of one option are all alike: there what they come to doesn't differ.
        found[index] = [(int(each.tier[0]), each.measure_of_run(workers_on))] * runs
    return [sorted(own) for own in found]


def banded(grid: Grid, references: References) -> Grid:
    """Return the grid with those hosts only that are within the band of some worker."""
    kept = []
    of_copies = _of_copies(grid, references)
    for index, (each, own) in enumerate(zip(grid.appraisals, references, strict=True)):
        there, option = grid.where[index], grid.classes[index]
        if each is None or _is_one_of_all_alike(option):
            kept.append(np.arange(len(there)))
        elif option.copy is not None:
            standing = of_copies.get((option.first, option.copy))
            kept.append(np.nonzero(_open_to(each, standing))[0])
        else:
            inside = np.zeros(len(there), np.bool_)
            for standing in set(own):
                inside |= within(each, standing)
            kept.append(np.nonzero(inside)[0])
    return grid.narrowed(kept)


def rows(choices: Choices, references: References) -> Iterator[Row]:
    """Yield for each class and rank: so many workers stay within the band of what they had."""
    of_copies = _of_copies(choices.grid, references)
    for each in choices.signatures:
        (index,) = each.members
        appraisal, option = choices.grid.appraisals[index], each.classes[0]
        if appraisal is not None and appraisal.of_run and option.copy is not None:
            yield from _row_of_run(choices, each, appraisal, of_copies)
            continue
        if appraisal is None or not references[index] or option.copy is not None:
            continue
        if _is_one_of_all_alike(option):
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


def _of_copies(grid: Grid, references: References) -> dict[tuple[str, int], Standing]:
    """Return what the runs were left that have options of their own."""
    return {
        (option.first, option.copy): own[0]
        for option, own in zip(grid.classes, references, strict=True)
        if option.copy is not None and own
    }


def _is_one_of_all_alike(option: RunClass) -> bool:
    """Whether it is an option among several of which each is worth the same to a run."""
    return option.copy is None and (option.deal is not None or option.own is not None)


def _open_to(each: Appraisal, standing: Standing | None) -> Bools:
    """Return the hosts that a run which was left this may be on."""
    if standing is None:
        return np.zeros(len(each.hosts), np.bool_)
    if not each.of_run:
        return within(each, standing)
    tier, measure = standing
    limit = each.limit(tier, measure) - each.of_run.measure
    inside: Bools = (each.tier < tier) | ((each.tier == tier) & (each.measure <= limit))
    return inside


def _row_of_run(
    choices: Choices,
    each: Signature,
    appraisal: Appraisal,
    of_copies: Mapping[tuple[str, int], Standing],
) -> Iterator[Row]:
    """Yield: what a run comes to, all its workers together, is within the band of what it had."""
    option = each.classes[0]
    assert option.copy is not None and appraisal.of_run is not None
    standing = of_copies.get((option.first, option.copy))
    if standing is None or not len(appraisal.tier) or int(appraisal.tier[0]) != standing[0]:
        return
    limit = appraisal.limit(*standing) - appraisal.of_run.measure
    yield from capped(choices, each, appraisal.measure, limit)


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
