"""The limits of a run that is bought: what all its instances come to together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stowplan.model.audit import (
    balance,
    budget,
    complete_by,
    if_match,
    interruptible,
    max_cost,
    max_rate,
)
from stowplan.model.audit.instances import Host
from stowplan.model.audit.plan import Plan
from stowplan.model.runs import Run

TOGETHER = (complete_by, max_cost, max_rate, if_match, budget, balance)


def over_together(plan: Plan, run: Run, hosts: Sequence[Host]) -> str | None:
    """Say which limit of the run these hosts break, one for each worker, or None."""
    return next(_broken(plan, run, hosts), None)


def _broken(plan: Plan, run: Run, hosts: Sequence[Host]) -> Iterator[str]:
    if not plan.is_limited(run):
        return
    for host in hosts:
        if why := interruptible.over(plan, run, host, 1):
            yield why
    for rule in TOGETHER:
        if why := rule.together(plan, run, hosts):
            yield why
