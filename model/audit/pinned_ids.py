"""Pinned GPUs: a run that names GPUs gets exactly these."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Device, Machine
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each GPU given to a run that pins others."""
    return plan.unfit("pinned_ids", unfit)


def unfit(run: Run, machine: Machine, device: Device) -> str | None:
    """Say that the GPU isn't one of those that the run pins, or None."""
    pinned = run.gpus.ids
    return "isn't one of the GPUs that the run pins" if pinned and device.id not in pinned else None
