"""Interruptible: a run goes only where it may be interrupted, or where it can't, as it asks."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.instances import Host
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Machine
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker on a host of the other kind than its run accepts."""
    return plan.over("interruptible", over)


def over(plan: Plan, run: Run, host: Host, workers: int) -> str | None:
    """Say which kind the host is, where the run accepts only the other, or None."""
    asked = run.placement.interruptible
    can = not isinstance(host, Machine) and host.offering.interruptible
    if asked == "never" and can:
        return "can be interrupted, and the run never may be"
    if asked == "require" and not can:
        return "can't be interrupted, and the run asks for what can"
    return None
