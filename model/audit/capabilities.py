"""Capabilities: a machine can all that the run needs, and an `only` machine is needed for it.

An offering states none.
"""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Machine, Offering
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker on a machine that lacks a capability, or takes only runs that need one."""
    yield from plan.barred("capabilities", barred)
    yield from plan.unmet("capabilities", unmet)


def barred(plan: Plan, run: Run, machine: Machine) -> str | None:
    """Say which capability is lacking, or which one the run would have to need, or None."""
    for need in run.needs:
        if need not in machine.capabilities and need not in machine.only:
            return f"lacks the capability {need}"
    if machine.only and not any(capability in run.needs for capability in machine.only):
        return f"takes only runs that need {' or '.join(machine.only)}"
    return None


def unmet(plan: Plan, run: Run, offering: Offering) -> str | None:
    """Say which capability the run needs, for an offering states none, or None."""
    return f"states no capability {run.needs[0]}" if run.needs else None
