"""Most an hour: a run goes to no host that is dearer by the hour than it allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stowplan.model.audit.instances import Host
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.money import micro_of, written
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker on a host that is dearer by the hour than its run allows."""
    return plan.over("max_rate", over, together)


def over(plan: Plan, run: Run, host: Host, workers: int) -> str | None:
    """Say what such hosts cost an hour, one for each of its workers, or None."""
    return _over(run, plan.prices.tariff(host).rate * workers)


def together(plan: Plan, run: Run, hosts: Sequence[Host]) -> str | None:
    """Say what these instances cost an hour, where that is too much, or None."""
    return _over(run, sum(plan.prices.tariff(host).rate for host in hosts))


def _over(run: Run, rate: int) -> str | None:
    most = run.placement.max_rate_usd_per_hour
    if most is None or rate <= micro_of(most):
        return None
    return f"costs {written(rate)} USD an hour, and at most {most} may be"
