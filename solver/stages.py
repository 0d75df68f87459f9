"""The chain of objectives: place, value, at-risk GPUs, points ...; each fixes those before.

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
from stowplan.solver.money.profiles import refuse_vast
from stowplan.solver.money.pruning import pruned
from stowplan.solver.whole import Whole

SEARCHED_WHOLE = 600
"""Variables up to which every stage searches the whole model, host by host; offerings aside."""
OFFERS_SEARCHED_WHOLE = 60_000
"""And those of offerings: they share little, so that many are searched as fast."""


def solve_stages(grid: Grid, limits: Limits, chain: Chain) -> Layout:
    """Return the layout after all stages, which the chain records."""
    needed = pruned(grid)
    refuse_vast(needed)
    offered = sum(int(needed.offered[there].sum()) for there in needed.where)
    variables = sum(len(there) for there in needed.where)
    if variables - offered <= SEARCHED_WHOLE and offered <= OFFERS_SEARCHED_WHOLE:
        choices = Choices(needed, limits, apart(needed, needed.used), signatures(needed))
        if len(choices.program.upper) - offered <= SEARCHED_WHOLE:
            return Whole.solved(choices, chain)
    return Cellwise(needed, limits, chain).solved()
