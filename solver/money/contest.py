"""What is best for a run that may have several workers: of all its shapes, groups and hosts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from stowplan.model.money import MICRO
from stowplan.model.policy import Bands
from stowplan.model.runs import Profile
from stowplan.solver.asks import Ask, RunClass
from stowplan.solver.eligibility import Eligibility
from stowplan.solver.ladder import Group
from stowplan.solver.money.appraisal import Measure, Own, measured, scaled
from stowplan.solver.money.dealer import Dealer
from stowplan.solver.money.deals import Deal
from stowplan.solver.money.prices import VAST, Ints, Priced, Prices
from stowplan.solver.options import Options
from stowplan.solver.rooms import Rooms

MOST_DEALS = 150
"""Deals of one class of runs: the best of them are kept."""


@dataclass(frozen=True)
class Contest:
    """The shapes and hosts of one class of runs, with the room at the start of the cycle."""

    choice: Options
    each: RunClass
    rivals: int = 0
    """Workers of all runs of the cycle; 0: of none but this one."""

    @property
    def _eligibility(self) -> Eligibility:
        return self.choice.eligibility

    @property
    def prices(self) -> Prices:
        """The prices of all hosts."""
        return self._eligibility.prices

    @property
    def _rooms(self) -> Rooms:
        return self.choice.rooms

    @property
    def bands(self) -> Bands:
        """How far from the best a choice may be."""
        return self.prices.snapshot.policy.bands

    @cached_property
    def singles(self) -> Sequence[tuple[Ask, Ints]]:
        """Shapes of one worker, each with the hosts that would take it."""
        found = []
        for ask, group in self.choice.ways(self.each, buying=True):
            if group is None:
                found.append((ask, np.nonzero(self._rooms.slots(ask))[0]))
        return found

    @cached_property
    def deals(self) -> Sequence[Deal]:
        """What shapes of several workers come to, on every group."""
        dealer = Dealer(self.prices, self._eligibility.ladder)
        found: list[Deal] = []
        worth: list[int] = []
        for bound, ask, group in self._groups():
            if len(worth) >= MOST_DEALS and sorted(worth)[MOST_DEALS - 1] < bound:
                break  # none of the rest is among the best
            priced = self._rooms.priced(ask)
            assert priced is not None
            slots = self._rooms.slots(ask)
            for deal in dealer.deals(ask, group, slots, priced, rivals=self.rivals):
                found.append(deal)
                worth.append(self._worth(deal))
        return found

    def _groups(self) -> list[tuple[int, Ask, Group]]:
        """Return the shapes and groups, with what a run comes to there at least; the best first."""
        found = []
        for number, (ask, group) in enumerate(self.choice.ways(self.each, buying=True)):
            if group is not None:
                priced, slots = self._priced(ask), self._rooms.slots(ask)
                hosts = group.hosts[slots[group.hosts] > 0]
                single = getattr(priced, self.what)[hosts]
                order = np.argsort(single, kind="stable")
                tasks = ask.tasks or 0
                before = np.cumsum(slots[hosts][order]) - slots[hosts][order]
                taken = np.clip(tasks - before, 0, slots[hosts][order])
                found.append((int((single[order] * taken).sum()), number, ask, group))
        found.sort(key=lambda each: each[:2])
        return [(bound, ask, group) for bound, _, ask, group in found]

    def _worth(self, deal: Deal) -> int:
        """Return what the best of a deal comes to, for as long as all tiers are one; else nothing:
        then all deals are looked at."""
        wanted = deal.base.work.run.placement
        is_plain = wanted.pool is None and wanted.interruptible != "prefer"
        if not is_plain:
            return VAST
        if self.by == "finish_s":
            return scaled(self._cost(deal), 0, self.bands.speed_cost)
        return self._least(deal)

    @cached_property
    def own(self) -> Own:
        """The best that there is for a run."""
        singles = [(self._priced(ask), hosts) for ask, hosts in self.singles]
        cheapest = min(
            [int(priced.risked[hosts].min()) for priced, hosts in singles]
            + [self._cost(deal) for deal in self.deals]
        )
        above = [cost for cost in self._costs(singles) if cost > 0]
        most = scaled(cheapest, 0, self.bands.speed_cost)
        lowest, seconds = VAST, 1
        for priced, hosts in singles:
            _, measure = measured(self.profile, priced, hosts, by_rate=self._is_by_rate)
            if self.by == "finish_s":
                measure = np.where(priced.risked[hosts] > most, VAST, measure)
            least = int(measure.min())
            time = int(priced.seconds[hosts[measure == least]].min())
            lowest, seconds = min((lowest, seconds), (least, time))
        for deal in self.deals:
            least = deal.finish_s if self.by == "finish_s" else self._least(deal)
            if self.by != "finish_s" or self._cost(deal) <= most:
                time = deal.seconds
                lowest, seconds = min((lowest, seconds), (least, time))
        return Own(self.by, lowest, cheapest, min(above, default=MICRO), max(1, seconds))

    def _costs(self, singles: Sequence[tuple[Priced, Ints]]) -> Iterator[int]:
        for priced, hosts in singles:
            yield from priced.risked[hosts].tolist()
        yield from (self._cost(deal) for deal in self.deals)

    @property
    def profile(self) -> Profile:
        """What runs choose by."""
        return self.each.ask.profile

    @cached_property
    def by(self) -> Measure:
        """What runs are measured by."""
        if self._is_by_rate:
            return "usd_per_hour"
        return "cost_usd" if self.profile == "cost" else "finish_s"

    @cached_property
    def _is_by_rate(self) -> bool:
        """Whether the rate counts: with balanced, or where a running time isn't known."""
        return self.profile == "balanced" or not all(
            self._priced(ask).is_total[hosts].all() for ask, hosts in self._takers
        )

    @property
    def _takers(self) -> Iterator[tuple[Ask, Ints]]:
        """The hosts that would take a worker, by shapes and groups."""
        for ask, group in self.choice.ways(self.each, buying=True):
            slots = self._rooms.slots(ask)
            yield (
                ask,
                np.nonzero(slots)[0] if group is None else group.hosts[slots[group.hosts] > 0],
            )

    @property
    def what(self) -> Literal["risked", "ranked_rate", "risked_rate"]:
        """What adds up to the measure of a run; under speed, its cost."""
        if not self._is_by_rate:
            return "risked"
        return "ranked_rate" if self.profile == "balanced" else "risked_rate"

    def figure(self, deal: Deal) -> Ints:
        """Return that of one worker on each host of a deal."""
        figure: Ints = getattr(deal.bills, self.what)
        return figure

    def _least(self, deal: Deal) -> int:
        least = deal.least(self.figure(deal))
        assert least is not None  # the dealer found that it fits
        return least

    def _cost(self, deal: Deal) -> int:
        cost = deal.least(deal.bills.risked)
        assert cost is not None
        return cost

    def _priced(self, ask: Ask) -> Priced:
        priced = self.prices.of(ask)
        assert priced is not None
        return priced
