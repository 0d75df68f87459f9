"""Most an hour: a run goes to no host that is dearer by the hour than it allows."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.instances import Host
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.money import micro_of, written
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker on a host that is dearer by the hour than its run allows."""
    return plan.over("max_rate", over)


def over(plan: Plan, run: Run, host: Host, workers: int) -> str | None:
    """Say what such hosts cost an hour, one for each of its workers, or None."""
    most = run.placement.max_rate_usd_per_hour
    if most is None:
        return None
    rate = plan.prices.tariff(host).rate * workers
    is_over = rate > micro_of(most)
    return f"costs {written(rate)} USD an hour, and at most {most} may be" if is_over else None
