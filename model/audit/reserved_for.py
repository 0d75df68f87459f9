"""Reserved for: a machine reserved for labels takes only runs that select them all."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Machine
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker on a machine reserved for labels that its run doesn't select."""
    return plan.barred("reserved_for", barred)


def barred(plan: Plan, run: Run, machine: Machine) -> str | None:
    """Say which label the run would have to select, or None."""
    for label, value in machine.reserved_for.items():
        if run.node_selection.match_labels.get(label) != value:
            return f"reserved for {label}={value}, which the run doesn't select"
    return None
