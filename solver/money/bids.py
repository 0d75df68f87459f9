"""Bids: every option of a run of several workers, with what it is worth beside all others.

A run's options are compared as wholes: shapes with each other, and machines with what is bought.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from stowplan.model.estimating.columns import over, product
from stowplan.model.money import HOUR_S, MICRO, ceil_div
from stowplan.model.policy import Bands
from stowplan.solver.asks import Ask, RunClass
from stowplan.solver.eligibility import Eligibility
from stowplan.solver.ladder import BOUGHT
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
FEW = 64
"""Hosts of a deal that are all kept, however dear."""


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
        for ask, group in self.choice.ways(self.each, buying=True):
            priced = self._rooms.priced(ask)
            if group is not None and priced is not None:
                found += dealer.deals(ask, group, self._rooms.slots(ask), priced)
        return found

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
                time = int(deal.priced.seconds[deal.hosts].min())
                lowest, seconds = min((lowest, seconds), (least, time))
        return Own(self.by, lowest, cheapest, min(above, default=MICRO), max(1, seconds))

    def _costs(self, singles: Sequence[tuple[Priced, Ints]]) -> Iterator[int]:
        for priced, hosts in singles:
            yield from priced.risked[hosts].tolist()
        yield from (self._cost(deal) for deal in self.deals)

    @property
    def _profile(self):  # type: ignore[no-untyped-def]
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
        return (
            self._profile == "balanced"
            or not all(self._priced(ask).is_total[hosts].all() for ask, hosts in self.singles)
            or not all(deal.is_total for deal in self.deals)
        )

    def _figure(self, deal: Deal) -> Ints:
        """Return by host what adds up to the measure of a run; under speed, its cost."""
        if not self._is_by_rate:
            return deal.priced.risked
        if self._profile == "balanced":
            return deal.priced.ranked_rate
        return deal.priced.risked_rate

    def _least(self, deal: Deal) -> int:
        least = deal.least(self._figure(deal))
        assert least is not None  # the dealer found that it fits
        return least

    def _cost(self, deal: Deal) -> int:
        cost = deal.least(deal.priced.risked)
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
        tiered = [self._pruned(deal) for deal in tiered[:MOST_DEALS]]
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
        least = deal.least(_over_all(deal, each.regret)) or 0
        rung = deal.group.rung
        return (
            int(each.tier[0]),
            least + each.of_run.regret,
            rung,
            deal.ask.tasks or 0,
            deal.start_s,
        )

    def _pruned(self, deal: Deal) -> Deal:
        """Return a deal without offerings that no run needs: the cheaper ones hold all workers."""
        if len(deal.hosts) <= FEW or deal.group.rung < BOUGHT:
            return deal
        assert deal.appraisal is not None
        kept = np.zeros(len(deal.hosts), np.bool_)
        shares = [share.hosts for share in deal.shares] or [deal.hosts]
        if deal.one_of is not None:
            shares.append(deal.one_of)
        for figure in (self._figure(deal), deal.priced.cost):
            for share in shares:
                own = np.nonzero(np.isin(deal.hosts, share))[0]
                own = own[np.lexsort((deal.hosts[own], figure[deal.hosts[own]]))]
                held = np.cumsum(deal.most[own])
                enough = min(int(np.searchsorted(held, self.rivals)), len(own) - 1)
                limit = scaled(int(figure[deal.hosts[own[enough]]]), 1, self._bands.profile)
                kept[own[figure[deal.hosts[own]] <= limit][: 4 * FEW + enough]] = True
        return replace(deal.only(kept), appraisal=deal.appraisal.only(np.nonzero(kept)[0]))

    def _in_tiers(self, deal: Deal) -> Iterator[Deal]:
        """Yield a deal as it is, and on those of its hosts alone that the run prefers."""
        wanted, own = deal.priced.work.run.placement, self.own
        is_fast = self.by == "finish_s"
        within: tuple[Cap, ...] = ()
        if is_fast:
            most = scaled(own.cheapest, 0, self._bands.speed_cost)
            within = (Cap("value", "risked", most, deal.priced.risked),)
        plain = replace(deal, caps=(*deal.caps, *within))
        yield from self._appraised(plain, Tier.PLAIN)
        if is_fast and int((deal.priced.risked[deal.hosts] * deal.most).sum()) > most:
            yield from self._appraised(deal, Tier.BEYOND)
        if wanted.interruptible == "prefer":
            allowed = scaled(own.lowest, 1, self._bands.interruptible_prefer)
            some = plain.only(self._prices.interruptible[deal.hosts])
            if not is_fast:
                some = replace(
                    some, caps=(*some.caps, Cap("value", "", allowed, self._figure(deal)))
                )
            if not is_fast or deal.finish_s <= allowed:
                yield from self._appraised(some, Tier.PREFERRED)
        if wanted.pool is not None:
            inside = (self._prices.pools[deal.hosts] == wanted.pool).astype(np.bool_)
            yield from self._appraised(deal.only(inside), Tier.POOL)

    def _appraised(self, deal: Deal, tier: Tier) -> Iterator[Deal]:
        """Yield the deal with what it is worth, where a run fits."""
        if not len(deal.hosts) or deal.least(deal.priced.rate) is None:
            return
        own, hosts, priced = self.own, deal.hosts, deal.priced
        nothing = np.zeros(len(hosts), np.int64)
        if tier == Tier.BEYOND:
            measure = regret = priced.risked[hosts]
            of_run = OfRun(0, -own.cheapest)
        elif own.by == "finish_s":
            measure = regret = nothing
            more = (deal.finish_s - own.lowest) * own.unit
            of_run = OfRun(deal.finish_s, ceil_div(more, max(1, own.lowest)))
        elif own.by == "cost_usd":
            measure = regret = priced.risked[hosts]
            of_run = OfRun(0, -own.lowest)
        else:
            measure = self._figure(deal)[hosts]
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
            cost=priced.cost[hosts],
            lowest=own.lowest,
            least=own.least,
            bands=self._bands,
            of_run=of_run,
        )
        yield replace(deal, appraisal=appraisal)


def _over_all(deal: Deal, figure: Ints) -> Ints:
    """Return a figure of a deal's hosts by host, over all hosts."""
    found = np.zeros(len(deal.priced.rate), np.int64)
    found[deal.hosts] = figure
    return found


def _is_flat(deal: Deal) -> bool:
    """Whether it is all one to a run where it is on these hosts."""
    each = deal.appraisal
    assert each is not None
    is_plain = not (each.measure.any() or each.cost.any() or deal.caps)
    return is_plain and int(each.tier[0]) == Tier.PLAIN and each.by != "finish_s"
