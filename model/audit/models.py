"""Models: each GPU's model has one of the run's terms in its name, in any case."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Device, Machine, Offering
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each GPU given to a run that asks for other models."""
    yield from plan.unfit("models", unfit)
    yield from plan.unmet("models", unmet)


def unfit(run: Run, machine: Machine, device: Device) -> str | None:
    """Say which model the GPU is, where the run asks for others, or None."""
    return _other(run, device.model)


def unmet(plan: Plan, run: Run, offering: Offering) -> str | None:
    """Say which model an instance's GPUs are, where the run asks for others, or None."""
    return _other(run, offering.accelerator.model) if offering.accelerator else None


def _other(run: Run, model: str) -> str | None:
    terms = run.gpus.models
    if not terms or any(term.lower() in model.lower() for term in terms):
        return None
    return f"is a {model}, not {' or '.join(terms)}"
