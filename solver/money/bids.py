"""Bids: every option of a run of several workers, with what it is worth beside all others.

A run's options are compared as wholes: shapes with each other, and machines with what is bought.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from stowplan.model.estimating.columns import over, product
from stowplan.model.money import HOUR_S, MICRO, ceil_div
from stowplan.model.policy import Bands
from stowplan.model.runs import Profile
from stowplan.solver.asks import Ask, RunClass
from stowplan.solver.eligibility import Eligibility
from stowplan.solver.ladder import Group
from stowplan.solver.money.appraisal import (
    Appraisal,
    Measure,
    OfRun,
    Own,
    Tier,
    measured,
    scaled,
)
from stowplan.solver.money.caps import Cap
from stowplan.solver.money.deals import Deal, Dealer
from stowplan.solver.money.prices import VAST, Ints, Priced, Prices
from stowplan.solver.options import Options, has_options
from stowplan.solver.rooms import Rooms

MOST_DEALS = 150
"""Deals of one class of runs: the best of them are kept."""
MOST_COPIED = 20_000
"""Hosts of all options of a class, for all its runs: beyond it those that are all alike to a run
aren't told apart."""


def bids(options: Options, classes: Sequence[RunClass]) -> tuple[RunClass, ...]:
    """Return every option of every class; those of runs of several workers, where something costs
    something, with their deals."""
    found: list[RunClass] = []
    rivals = sum(each.count * max(ask.tasks or 0 for ask in _shapes(each)) for each in classes)
    for each in classes:
        if not has_options(each) or options.eligibility.prices.of(each.ask) is None:
            found.extend(options.of([each]))
        else:
            found.extend(Bidding(options, each, rivals).options)
    return tuple(found)


def _shapes(each: RunClass) -> Sequence[Ask]:
    return each.ways or (each.ask,)


@dataclass(frozen=True)
class Bidding:
    """The options of one class, with the room at the start of the cycle."""

    choice: Options
    each: RunClass
    rivals: int = 0
    """Workers of all runs of the cycle; 0: of none but this one."""

    @property
    def _eligibility(self) -> Eligibility:
        return self.choice.eligibility

    @property
    def _prices(self) -> Prices:
        return self._eligibility.prices

    @property
    def _rooms(self) -> Rooms:
        return self.choice.rooms

    @property
    def _bands(self) -> Bands:
        return self._prices.snapshot.policy.bands

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
        dealer = Dealer(self._prices, self._eligibility.ladder)
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
                figure = getattr(priced, self._what)[hosts]
                order = np.argsort(figure, kind="stable")
                tasks = ask.tasks or 0
                before = np.cumsum(slots[hosts][order]) - slots[hosts][order]
                taken = np.clip(tasks - before, 0, slots[hosts][order])
                found.append((int((figure[order] * taken).sum()), number, ask, group))
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
            return scaled(self._cost(deal), 0, self._bands.speed_cost)
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
        most = scaled(cheapest, 0, self._bands.speed_cost)
        lowest, seconds = VAST, 1
        for priced, hosts in singles:
            _, measure = measured(self._profile, priced, hosts, by_rate=self._is_by_rate)
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
    def _profile(self) -> Profile:
        return self.each.ask.profile

    @cached_property
    def by(self) -> Measure:
        """What runs are measured by."""
        if self._is_by_rate:
            return "usd_per_hour"
        return "cost_usd" if self._profile == "cost" else "finish_s"

    @cached_property
    def _is_by_rate(self) -> bool:
        """Whether the rate counts: with balanced, or where a running time isn't known."""
        return self._profile == "balanced" or not all(
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
    def _what(self) -> Literal["risked", "ranked_rate", "risked_rate"]:
        """What adds up to the measure of a run; under speed, its cost."""
        if not self._is_by_rate:
            return "risked"
        return "ranked_rate" if self._profile == "balanced" else "risked_rate"

    def _figure(self, deal: Deal) -> Ints:
        figure: Ints = getattr(deal.bills, self._what)
        return figure

    def _least(self, deal: Deal) -> int:
        least = deal.least(self._figure(deal))
        assert least is not None  # the dealer found that it fits
        return least

    def _cost(self, deal: Deal) -> int:
        cost = deal.least(deal.bills.risked)
        assert cost is not None
        return cost

    def _priced(self, ask: Ask) -> Priced:
        priced = self._prices.of(ask)
        assert priced is not None
        return priced

    @cached_property
    def options(self) -> Sequence[RunClass]:
        """Every option, the best first; of several runs, one for each of them."""
        if not self.singles and not self.deals:
            return ()
        tiered = [deal for raw in self.deals for deal in self._in_tiers(raw)]
        tiered.sort(key=self._rank)
        tiered = tiered[:MOST_DEALS]
        found = [replace(self.each, ask=ask, own=self.own) for ask, _ in self.singles]
        found += [replace(self.each, ask=deal.ask, group=deal.group, deal=deal) for deal in tiered]
        copied = self._copied(found)
        return [replace(own, option=number) for number, own in enumerate(copied)]

    def _copied(self, found: Sequence[RunClass]) -> Iterable[RunClass]:
        """Return the options once for each run, so that each can have limits of its own."""
        runs = self.each.count
        if runs == 1:
            return [replace(own, copy=0) for own in found]
        flat = [own.deal is not None and _is_flat(own.deal) for own in found]
        if all(flat):
            return found
        hosts = sum(len(own.deal.hosts) if own.deal else 8 for own in found) * runs
        copied: list[RunClass] = []
        for own, is_flat in zip(found, flat, strict=True):
            if is_flat and hosts > MOST_COPIED:
                copied.append(own)
            else:
                copied.extend(replace(own, copy=number) for number in range(runs))
        return copied

    def _rank(self, deal: Deal) -> tuple[int, ...]:
        each = deal.appraisal
        assert each is not None and each.of_run is not None
        least = deal.least(each.regret) or 0
        rung = deal.group.rung
        return (
            int(each.tier[0]),
            least + each.of_run.regret,
            rung,
            deal.ask.tasks or 0,
            deal.start_s,
        )

    def _in_tiers(self, deal: Deal) -> Iterator[Deal]:
        """Yield a deal as it is, and on those of its hosts alone that the run prefers."""
        wanted, own = deal.base.work.run.placement, self.own
        is_fast = self.by == "finish_s"
        within: tuple[Cap, ...] = ()
        if is_fast:
            most = scaled(own.cheapest, 0, self._bands.speed_cost)
            within = (Cap("value", "risked", most),)
        plain = replace(deal, caps=(*deal.caps, *within))
        yield from self._appraised(plain, Tier.PLAIN)
        if is_fast and int((deal.bills.risked * deal.most).sum()) > most:
            yield from self._appraised(deal, Tier.BEYOND)
        if wanted.interruptible == "prefer":
            allowed = scaled(own.lowest, 1, self._bands.interruptible_prefer)
            some = plain.only(self._prices.interruptible[deal.hosts])
            if not is_fast:
                some = replace(some, caps=(*some.caps, Cap("value", self._what, allowed)))
            if not is_fast or deal.finish_s <= allowed:
                yield from self._appraised(some, Tier.PREFERRED)
        if wanted.pool is not None:
            inside = (self._prices.pools[deal.hosts] == wanted.pool).astype(np.bool_)
            yield from self._appraised(deal.only(inside), Tier.POOL)

    def _appraised(self, deal: Deal, tier: Tier) -> Iterator[Deal]:
        """Yield the deal with what it is worth, where a run fits."""
        if not len(deal.hosts) or deal.least(deal.bills.rate) is None:
            return
        own, hosts, bills = self.own, deal.hosts, deal.bills
        nothing = np.zeros(len(hosts), np.int64)
        if tier == Tier.BEYOND:
            measure = regret = bills.risked
            of_run = OfRun(0, -own.cheapest)
        elif own.by == "finish_s":
            measure = regret = nothing
            more = (deal.finish_s - own.lowest) * own.unit
            of_run = OfRun(deal.finish_s, ceil_div(more, max(1, own.lowest)))
        elif own.by == "cost_usd":
            measure = regret = bills.risked
            of_run = OfRun(0, -own.lowest)
        else:
            measure = self._figure(deal)
            worth = over(product(measure, own.seconds), HOUR_S)
            regret = np.minimum(worth, VAST).astype(np.int64)
            of_run = OfRun(0, -(own.lowest * own.seconds // HOUR_S))
        appraisal = Appraisal(
            hosts=hosts,
            profile=self._profile,
            by=own.by,
            tier=np.full(len(hosts), tier, np.int64),
            measure=measure,
            regret=regret,
            cost=bills.cost,
            lowest=own.lowest,
            least=own.least,
            bands=self._bands,
            of_run=of_run,
        )
        yield replace(deal, appraisal=appraisal)


def _is_flat(deal: Deal) -> bool:
    """Whether it is all one to a run where it is on these hosts."""
    each = deal.appraisal
    assert each is not None
    is_plain = not (each.measure.any() or each.cost.any() or deal.caps)
    return is_plain and int(each.tier[0]) == Tier.PLAIN and each.by != "finish_s"
