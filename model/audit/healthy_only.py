"""Healthy only: a run that asks for healthy GPUs gets none at risk; unknown shows no sign of it."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Device, Machine
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each GPU at risk given to a run that asks for healthy ones."""
    return plan.unfit("healthy_only", unfit)


def unfit(run: Run, machine: Machine, device: Device) -> str | None:
    """Say that the GPU is at risk, where the run asks for healthy ones, or None."""
    return "is at risk" if run.gpus.healthy_only and device.health == "at_risk" else None
