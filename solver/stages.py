"""The chain of objectives: place, at-risk GPUs, points, canonical order; each fixes those before.

A small fleet is searched whole, a large one cell by cell.
"""

from __future__ import annotations

from stowplan.solver.cells import apart, signatures
from stowplan.solver.chain import Chain
from stowplan.solver.choices import Choices
from stowplan.solver.grid import Grid
from stowplan.solver.large.cellwise import Cellwise
from stowplan.solver.layout import Layout
from stowplan.solver.limits import Limits
from stowplan.solver.whole import Whole

SEARCHED_WHOLE = 600
"""Variables up to which every stage searches the whole model, host by host."""


def solve_stages(grid: Grid, limits: Limits, chain: Chain) -> Layout:
    """Return the layout after all stages, which the chain records."""
    if sum(len(there) for there in grid.where) <= SEARCHED_WHOLE:
        choices = Choices(grid, limits, apart(grid), signatures(grid))
        if len(choices.program.upper) <= SEARCHED_WHOLE:
            return Whole.solved(choices, chain)
    return Cellwise(grid, limits, chain).solved()
