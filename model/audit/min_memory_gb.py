"""Memory of a GPU: each has what the run asks, in units of 10^9 bytes, less half a unit."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Device, Machine
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each GPU that is too small for its run."""
    return plan.unfit("min_memory_gb", unfit)


def unfit(run: Run, machine: Machine, device: Device) -> str | None:
    """Say how small the GPU is, or None."""
    asked = run.gpus.min_memory_gb
    if asked is None or device.memory_mib * 2**20 >= (Decimal(str(asked)) - Decimal("0.5")) * 10**9:
        return None
    return f"has {device.memory_mib} MiB, and the run asks for {asked} GB"
