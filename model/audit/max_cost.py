"""Most in all: a run goes to no host where it is expected to cost more than it allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stowplan.model.audit.instances import Host
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.money import micro_of, written
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker on a host where its run costs more than it may."""
    return plan.over("max_cost", over, together)


def over(plan: Plan, run: Run, host: Host, workers: int) -> str | None:
    """Say what it is expected to cost, all its workers on such hosts, or None."""
    if run.placement.max_cost_usd is None:
        return None
    return _over(run, plan.prices.cost(run, host) * workers)


def together(plan: Plan, run: Run, hosts: Sequence[Host]) -> str | None:
    """Say what the run is expected to cost on these instances, where that is too much, or None."""
    if run.placement.max_cost_usd is None:
        return None
    return _over(run, plan.prices.together(run, hosts).seen.cost.p50)


def _over(run: Run, cost: int) -> str | None:
    most = run.placement.max_cost_usd
    if most is None or cost <= micro_of(most):
        return None
    return f"costs {written(cost)} USD, and at most {most} may be"
