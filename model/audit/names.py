"""Names: a run that names hosts goes only to them, and nowhere while one of them is unknown."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Machine, Offering
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker on a host that its run doesn't name, and runs that name unknown ones."""
    for run, _ in plan.starts:
        if absent := unknown(plan, run):
            text = f"names {', '.join(absent)}, which the fleet doesn't have"
            yield Violation("names", run.name, None, text)
    yield from plan.barred("names", barred)
    yield from plan.unmet("names", unmet)


def barred(plan: Plan, run: Run, machine: Machine) -> str | None:
    """Say that the run doesn't name the machine, or None."""
    chosen = plan.selected[run.name]
    return (
        "not among the hosts that the run names" if chosen and machine.name not in chosen else None
    )


def unmet(plan: Plan, run: Run, offering: Offering) -> str | None:
    """Say that the run names hosts, which are always machines, or None."""
    return "is bought, and the run names machines" if plan.selected[run.name] else None


def unknown(plan: Plan, run: Run) -> list[str]:
    """Return the names that the run selects and no machine has; an empty fleet knows none yet."""
    if not plan.machines:
        return []
    return sorted(name for name in plan.selected[run.name] if name not in plan.machines)
