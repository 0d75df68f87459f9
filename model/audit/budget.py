"""Budget: what workspaces start in a cycle costs no more than is left of what they share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stowplan.model.audit.instances import Host
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.spending import over_its_purse, overspent, too_much_for
from stowplan.model.audit.violation import Violation
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker whose run alone costs more than a budget, and each budget overspent."""
    yield from plan.over("budget", over, together)
    yield from overspent(plan, "budget")


def over(plan: Plan, run: Run, host: Host, workers: int) -> str | None:
    """Say what the run costs there, and how much is left, where that is too little; or None."""
    return over_its_purse(plan, run, host, workers, "budget")


def together(plan: Plan, run: Run, hosts: Sequence[Host]) -> str | None:
    """Say what the run costs on these instances, where more than is left; or None."""
    return too_much_for(plan, run, hosts, "budget")
