"""Accepting: a machine that is cordoned or draining takes nothing new."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Machine
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker on a machine that is closed for new work."""
    return plan.barred("accepting", barred)


def barred(plan: Plan, run: Run, machine: Machine) -> str | None:
    """Say that the machine is cordoned or draining, or None."""
    closed = machine.state in ("cordoned", "draining")
    return f"the machine is {machine.state}" if closed else None
