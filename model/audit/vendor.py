"""Vendor: each GPU is of the vendor that the run asks for; one that tells none is of none."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Device, Machine, Offering, Vendor
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each GPU of another vendor than its run asks for."""
    yield from plan.unfit("vendor", unfit)
    yield from plan.unmet("vendor", unmet)


def unfit(run: Run, machine: Machine, device: Device) -> str | None:
    """Say whose GPU it is, where the run asks for another's, or None."""
    return _other(run, device.vendor)


def unmet(plan: Plan, run: Run, offering: Offering) -> str | None:
    """Say whose GPUs an instance has, where the run asks for another's, or None."""
    return _other(run, offering.accelerator.vendor) if offering.accelerator else None


def _other(run: Run, vendor: Vendor | None) -> str | None:
    asked = run.gpus.vendor
    if asked is None or vendor == asked:
        return None
    return f"is of vendor {vendor or 'unknown'}, not {asked}"
