"""Reservation: a machine reserved for another workspace takes only what ends before it begins."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Machine
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker on a machine that is, or soon will be, reserved for another workspace."""
    return plan.barred("reservation", barred)


def barred(plan: Plan, run: Run, machine: Machine) -> str | None:
    """Say which reservation keeps the run off the machine, or None."""
    now, policy = plan.snapshot.now, plan.snapshot.policy
    for kept in plan.reservations.get(machine.name, ()):
        if kept.workspace == run.workspace or kept.to <= now:
            continue
        if kept.from_ <= now:
            return f"reserved for {kept.workspace} until {kept.to.isoformat()} ({kept.name})"
        until = (kept.from_ - now) / dt.timedelta(seconds=1)
        ends = run.time_limit_s is not None and run.time_limit_s <= until
        if until <= policy.reservation_soon_s and not ends:
            return f"reserved for {kept.workspace} from {kept.from_.isoformat()} ({kept.name})"
    return None
