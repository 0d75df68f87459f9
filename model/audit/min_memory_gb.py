"""Memory of a GPU: each has what the run asks, in units of 10^9 bytes, less half a unit.

What an offering states is nominal, and compared as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Device, Machine, Offering
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each GPU that is too small for its run."""
    yield from plan.unfit("min_memory_gb", unfit)
    yield from plan.unmet("min_memory_gb", unmet)


def unfit(run: Run, machine: Machine, device: Device) -> str | None:
    """Say how small the GPU is, or None."""
    asked = run.gpus.min_memory_gb
    if asked is None or device.memory_mib * 2**20 >= (Decimal(str(asked)) - Decimal("0.5")) * 10**9:
        return None
    return f"has {device.memory_mib} MiB, and the run asks for {asked} GB"


def unmet(plan: Plan, run: Run, offering: Offering) -> str | None:
    """Say how small an instance's GPUs are, or None."""
    asked, own = run.gpus.min_memory_gb, offering.accelerator
    if asked is None or own is None or Decimal(str(own.memory_gb)) >= Decimal(str(asked)):
        return None
    return f"has {own.memory_gb} GB, and the run asks for {asked} GB"
