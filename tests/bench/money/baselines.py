"""Two plain ways to place runs on offerings, one by one in the order of the queue.

`one_by_one`: each run takes the host that its profile ranks best of those that are left.
`cheapest_rate`: each takes the lowest rate that fits. Limits are kept, and budgets are drawn on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from stowplan.model.money import micro_of
from stowplan.model.reasons import Reason
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from stowplan.solver.pricing import Market, RankedHost

type Choice = Callable[[list[RankedHost]], list[RankedHost]]


@dataclass
class Placed:
    """What a way comes to."""

    hosts: dict[str, RankedHost] = field(default_factory=dict)
    """By run."""

    @property
    def usd_per_hour(self) -> float:
        """What all ask an hour."""
        return sum(host.rate for host in self.hosts.values()) / 1e6

    @property
    def usd(self) -> float:
        """What all cost to completion of which that is known."""
        return sum(host.cost.p50 for host in self.hosts.values() if host.is_total) / 1e6


def one_by_one(snapshot: Snapshot) -> Placed:
    """Place each run where its profile says, as if it were alone with what is left."""
    return _in_turn(snapshot, list)


def cheapest_rate(snapshot: Snapshot) -> Placed:
    """Place each run at the lowest rate that is left."""
    return _in_turn(snapshot, lambda hosts: sorted(hosts, key=lambda host: host.rate))


def _in_turn(snapshot: Snapshot, choice: Choice) -> Placed:
    market, placed = Market(snapshot), Placed()
    named = market.named
    left = {name: host.start.instances for name, host in named.items()}
    purses = {budget.name: micro_of(budget.remaining_usd) for budget in snapshot.policy.budgets}
    for run in sorted(
        snapshot.runs, key=lambda each: (each.submitted_at or snapshot.now, each.name)
    ):
        ranking = market.ranked(run)
        if isinstance(ranking, Reason):
            continue
        own = _purses(run, snapshot)
        most = min((purses[name] for name in own), default=None)
        for host in choice(list(ranking.hosts)):
            if left[host.name] and (most is None or host.cost.p50 <= most):
                left[host.name] -= 1
                placed.hosts[run.name] = host
                for name in own:
                    purses[name] -= host.cost.p50
                break
    return placed


def _purses(run: Run, snapshot: Snapshot) -> list[str]:
    return [b.name for b in snapshot.policy.budgets if run.workspace in b.workspaces]
