"""Freshness: a machine whose report is older than `stale_after_s` takes nothing new."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Machine
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker on a machine whose report is stale."""
    return plan.barred("freshness", barred)


def barred(plan: Plan, run: Run, machine: Machine) -> str | None:
    """Say how old the machine's report is, where it is too old, or None."""
    return stale(plan, machine)


def stale(plan: Plan, machine: Machine) -> str | None:
    """Say the same of a machine, whatever the run."""
    if machine.reported_at is None:
        return None
    age = (plan.snapshot.now - machine.reported_at).total_seconds()
    limit = plan.snapshot.policy.stale_after_s
    return f"last reported {age:g} s ago, stale after {limit} s" if age > limit else None
