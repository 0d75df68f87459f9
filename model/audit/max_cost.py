"""Most in all: a run goes to no host where it is expected to cost more than it allows."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.instances import Host
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.money import micro_of, written
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker on a host where its run costs more than it may."""
    return plan.over("max_cost", over)


def over(plan: Plan, run: Run, host: Host, workers: int) -> str | None:
    """Say what it is expected to cost, all its workers on such hosts, or None."""
    most = run.placement.max_cost_usd
    if most is None:
        return None
    cost = plan.prices.cost(run, host) * workers
    is_over = cost > micro_of(most)
    return f"costs {written(cost)} USD, and at most {most} may be" if is_over else None
