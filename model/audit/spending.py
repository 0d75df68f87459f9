"""What runs spend of purses: each alone, and all that start in a cycle together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stowplan.model.audit.instances import Host
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.purses import Purse, Rule
from stowplan.model.audit.violation import Violation
from stowplan.model.money import written
from stowplan.model.runs import Run


def overspent(plan: Plan, rule: Rule) -> Iterator[Violation]:
    """Yield each purse that what starts in the cycle costs more than: each worker its own."""
    spent: dict[Purse, int] = {}
    for run, _, host in plan.taken:
        if run.name not in plan.together:
            for purse in plan.purses.get(run.workspace, ()):
                if purse.rule == rule:
                    spent[purse] = spent.get(purse, 0) + plan.prices.cost(run, host)
    for name, hosts in plan.together.items():
        run = plan.runs[name]
        for purse in plan.purses.get(run.workspace, ()):
            if purse.rule == rule:
                spent[purse] = spent.get(purse, 0) + plan.prices.together(run, hosts).seen.cost.p50
    for purse, cost in spent.items():
        if cost > purse.left:
            text = f"what starts costs {written(cost)} USD, and {purse.told}"
            yield Violation(rule, None, None, text)


def too_much_for(plan: Plan, run: Run, hosts: Sequence[Host], rule: Rule) -> str | None:
    """Say what the run costs on these hosts together, where that is more than is left, or None."""
    for purse in plan.purses.get(run.workspace, ()):
        if purse.rule == rule:
            cost = plan.prices.together(run, hosts).seen.cost.p50
            if cost > purse.left:
                return f"costs {written(cost)} USD, and {purse.told}"
    return None


def over_its_purse(plan: Plan, run: Run, host: Host, workers: int, rule: Rule) -> str | None:
    """Say what the run costs there, were it alone, where that is more than is left, or None."""
    for purse in plan.purses.get(run.workspace, ()):
        if purse.rule == rule:
            cost = plan.prices.cost(run, host) * workers
            if cost > purse.left:
                return f"costs {written(cost)} USD, and {purse.told}"
    return None
