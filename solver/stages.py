"""The chain of objectives: place, value, at-risk GPUs, points ...; each fixes those before.

A small fleet is searched whole, a large one cell by cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stowplan.solver.asks import RunClass
from stowplan.solver.cells import apart, signatures
from stowplan.solver.chain import Chain
from stowplan.solver.choices import Choices
from stowplan.solver.eligibility import Eligibility
from stowplan.solver.grid import Grid
from stowplan.solver.large.bounds import Lead
from stowplan.solver.large.buying import Buying
from stowplan.solver.large.cellwise import Cellwise
from stowplan.solver.large.gangs import Gangwise
from stowplan.solver.layout import Layout
from stowplan.solver.limits import Limits
from stowplan.solver.money.bids import bids
from stowplan.solver.money.profiles import refuse_vast
from stowplan.solver.money.pruning import pruned
from stowplan.solver.money.vast import refuse_vast_sums
from stowplan.solver.options import Options
from stowplan.solver.whole import Whole

SEARCHED_WHOLE = 600
"""Variables up to which every stage searches the whole model, host by host; offerings aside."""
OFFERS_SEARCHED_WHOLE = 60_000
"""And those of offerings: they share little, so that many are searched as fast."""
OPTIONS_SEARCHED_WHOLE = 8_000
"""And those of runs that may be cut in several ways, or be on several groups of machines."""
LED = 200
"""And past so many it is looked for first what starts, with hosts taken together."""


class Solved(NamedTuple):
    """A layout after all stages, and what each class could be worth on each host."""

    layout: Layout
    grid: Grid


def solve_stages(
    classes: Sequence[RunClass], eligibility: Eligibility, limits: Limits, chain: Chain
) -> Solved:
    """Return the layout after all stages, which the chain records."""
    options = Options(eligibility)
    extent = 0
    for each in classes:
        extent += options.extent(each)
        if extent > OPTIONS_SEARCHED_WHOLE:
            return Solved(*Gangwise(classes, options, limits, chain).solved())
    found = bids(options, classes)
    grid, is_whole = Grid(found.classes, eligibility, eligibility.hosts), found.is_whole
    if extent and _ordinary(grid) > SEARCHED_WHOLE:
        return Solved(*Gangwise(classes, options, limits, chain).solved())
    needed = pruned(grid)
    if any(each.deal for each in grid.classes) and not _is_searched_whole(needed):
        grid, is_whole = Grid(options.of(classes), eligibility, eligibility.hosts), False
        needed = pruned(grid)
    lead = None
    if extent > LED and not any(each.deal for each in grid.classes):
        lead = Gangwise(classes, options, limits, chain).lead(grid)
    layout = _placed(needed, limits, chain, lead)
    if is_whole:
        return Solved(layout, grid)
    return Solved(*Buying(classes, options, limits, chain, layout, grid, found.of_gangs).done())


def _is_searched_whole(needed: Grid) -> bool:
    return _ordinary(needed) <= SEARCHED_WHOLE and _offered(needed) <= OFFERS_SEARCHED_WHOLE


def _offered(grid: Grid) -> int:
    """Return how many variables there are on offerings."""
    return sum(int(grid.offered[there].sum()) for there in grid.where)


def _ordinary(grid: Grid) -> int:
    """Return how many variables there are on machines of runs that have no options."""
    return sum(
        int((~grid.offered[there]).sum())
        for each, there in zip(grid.classes, grid.where, strict=True)
        if each.option is None
    )


def _placed(needed: Grid, limits: Limits, chain: Chain, lead: Lead | None) -> Layout:
    refuse_vast(needed)
    refuse_vast_sums(needed)
    if _is_searched_whole(needed):
        choices = Choices(needed, limits, apart(needed, needed.used), signatures(needed))
        most = SEARCHED_WHOLE + _offered(needed)
        if needed.siblings or len(choices.program.upper) <= most:
            return Whole.solved(choices, chain, lead)
    return Cellwise(needed, limits, chain).solved()
