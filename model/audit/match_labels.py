"""Match labels: a machine has every label that the run selects; what it is reserved for counts."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Machine
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker on a machine that lacks a label that its run selects."""
    return plan.barred("match_labels", barred)


def barred(plan: Plan, run: Run, machine: Machine) -> str | None:
    """Say which label is lacking, or None."""
    for label, value in run.node_selection.match_labels.items():
        if value not in (machine.labels.get(label), machine.reserved_for.get(label)):
            return f"lacks the label {label}={value}"
    return None
