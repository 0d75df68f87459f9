"""Pinned GPUs: a run that names GPUs gets exactly these; none of them is to be bought."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Device, Machine, Offering
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each GPU given to a run that pins others."""
    yield from plan.unfit("pinned_ids", unfit)
    yield from plan.unmet("pinned_ids", unmet)
    for run, outcome in plan.starts:
        given = [device for worker in outcome.workers for device in worker.devices]
        if set(given) <= set(run.gpus.ids) and len(set(given)) < len(given):
            yield Violation("pinned_ids", run.name, None, "gets a GPU that it pins twice")


def unfit(run: Run, machine: Machine, device: Device) -> str | None:
    """Say that the GPU isn't one of those that the run pins, or None."""
    pinned = run.gpus.ids
    return "isn't one of the GPUs that the run pins" if pinned and device.id not in pinned else None


def unmet(plan: Plan, run: Run, offering: Offering) -> str | None:
    """Say that the run pins GPUs, and those to be bought have no ids yet, or None."""
    return "is bought, and the run pins GPUs that are there" if run.gpus.ids else None
