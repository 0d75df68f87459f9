"""Pressure: a machine short of memory or disk takes nothing new."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Machine
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker on a machine under pressure."""
    return plan.barred("pressure", barred)


def barred(plan: Plan, run: Run, machine: Machine) -> str | None:
    """Say that the machine is under pressure, or None."""
    return "the machine is under pressure" if machine.state == "pressure" else None
