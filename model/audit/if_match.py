"""If-match: a run made from an estimate goes to no host much dearer than that estimate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stowplan.model.audit.instances import Host
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.estimating.duration import as_written
from stowplan.model.estimating.token import rate_in
from stowplan.model.money import written
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker on a host whose rate is above the estimate's, and the band."""
    return plan.over("if_match", over, together)


def over(plan: Plan, run: Run, host: Host, workers: int) -> str | None:
    """Say how the host's rate compares with the estimate's, or None; a limit of its own counts."""
    return _dearer(plan, run, plan.prices.tariff(host).rate * workers)


def together(plan: Plan, run: Run, hosts: Sequence[Host]) -> str | None:
    """Say how the rate of these instances compares with the estimate's, or None."""
    return _dearer(plan, run, sum(plan.prices.tariff(host).rate for host in hosts))


def _dearer(plan: Plan, run: Run, rate: int) -> str | None:
    token = run.placement.if_match
    if token is None or run.placement.max_rate_usd_per_hour is not None:
        return None
    told = rate_in(token)
    if rate <= told * (1 + as_written(plan.snapshot.policy.bands.if_match)):
        return None
    return f"costs {written(rate)} USD an hour, and the estimate said {written(told)}"
