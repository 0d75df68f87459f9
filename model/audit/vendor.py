"""Vendor: each GPU is of the vendor that the run asks for; one that tells none is of none."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Device, Machine
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each GPU of another vendor than its run asks for."""
    return plan.unfit("vendor", unfit)


def unfit(run: Run, machine: Machine, device: Device) -> str | None:
    """Say whose GPU it is, where the run asks for another's, or None."""
    asked = run.gpus.vendor
    if asked is None or device.vendor == asked:
        return None
    return f"is of vendor {device.vendor or 'unknown'}, not {asked}"
