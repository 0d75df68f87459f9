"""Match labels: a machine has every label that the run selects; what it is reserved for counts."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Machine, Offering
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker on a machine that lacks a label that its run selects."""
    yield from plan.barred("match_labels", barred)
    yield from plan.unmet("match_labels", unmet)


def barred(plan: Plan, run: Run, machine: Machine) -> str | None:
    """Say which label is lacking, or None."""
    for label, value in run.node_selection.match_labels.items():
        if value not in (machine.labels.get(label), machine.reserved_for.get(label)):
            return f"lacks the label {label}={value}"
    return None


def unmet(plan: Plan, run: Run, offering: Offering) -> str | None:
    """Say which label the run selects, for an offering has none, or None."""
    label = next(iter(run.node_selection.match_labels), None)
    return None if label is None else f"has no labels, and the run selects {label}"
