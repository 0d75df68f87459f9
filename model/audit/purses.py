"""Purses: money that the runs of some workspaces spend together, a budget or a balance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Literal, NamedTuple

from stowplan.model.money import micro_of, written
from stowplan.model.policy import Policy

type Rule = Literal["budget", "balance"]


class Purse(NamedTuple):
    """Money that the runs of a cycle may spend."""

    rule: Rule
    name: str
    left: int
    """Micro-dollars."""

    @property
    def told(self) -> str:
        """What is left, in a sentence."""
        whose = "budget" if self.rule == "budget" else "workspace"
        return f"{whose} {self.name} has {written(self.left)} left"


def purses_of(policy: Policy) -> Mapping[str, list[Purse]]:
    """Return the budgets and the balance from which a workspace's runs are paid, by its name."""
    theirs: dict[str, list[Purse]] = defaultdict(list)
    for budget in policy.budgets:
        purse = Purse("budget", budget.name, micro_of(budget.remaining_usd))
        for name in dict.fromkeys(budget.workspaces):
            theirs[name].append(purse)
    for workspace in policy.workspaces:
        if workspace.balance_usd is not None:
            left = micro_of(workspace.balance_usd)
            theirs[workspace.name].append(Purse("balance", workspace.name, left))
    return dict(theirs)
