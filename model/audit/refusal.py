"""What only a change of the request or the policy helps: such a run never starts."""

from __future__ import annotations

from stowplan.model.audit.cut import cut_of
from stowplan.model.audit.names import unknown
from stowplan.model.audit.plan import Plan
from stowplan.model.reasons import Code
from stowplan.model.runs import Run


def refusals(plan: Plan, run: Run) -> set[Code]:
    """Return every code for which the run is refused; none: it isn't."""
    codes: set[Code] = set()
    if cut_of(run).uneven:
        codes.add(Code.UNEVEN_SHAPE)
    if unknown(plan, run):
        codes.add(Code.NOT_SELECTED)
    if _poolless(plan, run):
        codes.add(Code.POOL_RESTRICTED)
    return codes


def _poolless(plan: Plan, run: Run) -> bool:
    """Whether no machine of the fleet is in the workspace's pools; what is bought is in none."""
    pools = plan.pools.get(run.workspace)
    if pools is None or not plan.machines or plan.stock.offerings:
        return False
    return pools.isdisjoint(plan.pools_there)
