"""Denied: a GPU that the operator withholds is given to nobody."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Device, Machine
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each withheld GPU that is given out."""
    return plan.unfit("denied", unfit)


def unfit(run: Run, machine: Machine, device: Device) -> str | None:
    """Say that the GPU is withheld, or None."""
    return "is withheld" if device.id in machine.constraints.denied_devices else None
