"""What placed runs cost, in words: each one's rate and cost, and what all come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple

from stowplan.cli.render.text import counted
from stowplan.model.decision import Decision, PlacedRun
from stowplan.model.holds import holding
from stowplan.model.instances import offering_named
from stowplan.model.money import in_cents, micro_of, written
from stowplan.model.snapshot import Snapshot


class Cost(NamedTuple):
    """What a run costs to completion, in micro-dollars."""

    likely: int
    worst: int
    is_most: bool
    """Whether it is no more than that: workers share a host, and each is taken to pay for it."""


@dataclass(frozen=True)
class Money:
    """The rates and costs of a decision."""

    decision: Decision
    snapshot: Snapshot

    @cached_property
    def is_any(self) -> bool:
        """Whether anything that starts costs something."""
        return any(self.rate(run) or self._costs(run) for run in self._placed)

    def rate(self, run: PlacedRun) -> int:
        """Return what a run's hosts come to an hour, in micro-dollars; nothing where others are."""
        hosts = {w.host: w.kind for w in run.workers if w.host not in self._busy}
        return sum(
            self._rates[kind][offering_named(host) if kind == "offering" else host]
            for host, kind in hosts.items()
        )

    def cost(self, run: PlacedRun) -> Cost | None:
        """Return what a run costs to completion; None where nobody knows how long it runs."""
        if run.cost_usd is None:
            return None
        likely, worst = (micro_of(Decimal(each)) for each in (run.cost_usd.p50, run.cost_usd.p90))
        hosts = {worker.host for worker in run.workers}
        return Cost(likely, worst, is_most=len(hosts) < len(run.workers))

    def row(self, run: PlacedRun) -> tuple[str, str]:
        """Return a run's rate, and its cost with that at worst: "2.10", "12.40 (18.02)"."""
        cost, rate = self.cost(run), dollars(self.rate(run))
        if cost is None:
            return rate, "not known" if self.rate(run) else ""
        most = "<= " if cost.is_most and cost.likely else ""
        return rate, f"{most}{in_cents(cost.likely)} ({in_cents(cost.worst)})"

    def summary(self) -> str:
        """Return what all that starts comes to, in one line."""
        an_hour = in_cents(micro_of(self.decision.summary.usd_per_hour))
        costs = [self.cost(run) for run in self._placed]
        known = [cost for cost in costs if cost is not None]
        unknown = sum(cost is None and self.rate(run) > 0 for cost, run in self._with(costs))
        told = f"{an_hour} USD an hour"
        if known:
            most = "at most " if any(cost.is_most and cost.likely for cost in known) else ""
            likely, worst = (sum(each) for each in zip(*(c[:2] for c in known), strict=True))
            told += (
                f"; {most}{in_cents(likely)} USD to completion, {in_cents(worst)} at worst (p90)"
            )
        if unknown:
            told += f"; {counted(unknown, 'run')} of unknown length" if known else ""
            told += "" if known else f"; no running time is known of {counted(unknown, 'run')}"
        return told

    def _with(self, costs: list[Cost | None]) -> list[tuple[Cost | None, PlacedRun]]:
        return list(zip(costs, self._placed, strict=True))

    def _costs(self, run: PlacedRun) -> bool:
        cost = self.cost(run)
        return cost is not None and cost.worst > 0

    @cached_property
    def _busy(self) -> frozenset[str]:
        """The hosts that are billed for other runs already."""
        return frozenset(worker.host for _, worker in holding(self.snapshot))

    @cached_property
    def _placed(self) -> list[PlacedRun]:
        return [run for run in self.decision.outcomes if isinstance(run, PlacedRun)]

    @cached_property
    def _rates(self) -> Mapping[str, Mapping[str, int]]:
        fleet = self.snapshot.fleet
        return {
            "machine": {
                machine.name: 0 if machine.byoc_pool else micro_of(machine.rate_usd_per_hour)
                for machine in fleet.machines
            },
            "offering": {
                offering.name: micro_of(offering.rate_usd_per_hour) for offering in fleet.offerings
            },
        }


def dollars(micro: int) -> str:
    """Return dollars to the cent, or exactly where that is less than a dime."""
    return in_cents(micro) if micro >= 10**5 or not micro % 10**4 else written(micro)
