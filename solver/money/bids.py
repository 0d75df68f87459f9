"""Bids: every option of a run of several workers, with what it is worth beside all others.

A run's options are compared as wholes: shapes with each other, and machines with what is bought.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from stowplan.model.estimating.columns import over, product
from stowplan.model.money import HOUR_S, ceil_div
from stowplan.solver.asks import Ask, RunClass
from stowplan.solver.money.appraisal import (
    Appraisal,
    OfRun,
    Tier,
    scaled,
)
from stowplan.solver.money.caps import Cap
from stowplan.solver.money.contest import MOST_DEALS, Contest
from stowplan.solver.money.deals import Deal
from stowplan.solver.money.prices import VAST
from stowplan.solver.options import Options, has_options

MOST_HOSTS = 30_000
"""Hosts of all deals of a cycle: more can't be searched together. The best deals are kept."""
MOST_COPIED = 20_000
"""Hosts of all options of a class, for all its runs: beyond it those that are all alike to a run
aren't told apart."""


class Bids(NamedTuple):
    """Every option of every class."""

    classes: Sequence[RunClass]
    of_gangs: Mapping[str, Bidding]
    """What was open to each class of runs of several workers, by its first run."""

    @property
    def is_whole(self) -> bool:
        """Whether none was left out: runs of several workers keep their best ones, so many."""
        return all(own.is_whole for own in self.of_gangs.values())


def bids(options: Options, classes: Sequence[RunClass]) -> Bids:
    """Return every option of every class; those of runs of several workers, where something costs
    something, with their deals."""
    found: list[RunClass] = []
    of_gangs: dict[str, Bidding] = {}
    gangs = [each for each in classes if has_options(each)]
    rivals = sum(each.count * max(ask.tasks or 0 for ask in _shapes(each)) for each in classes)
    hosts = MOST_HOSTS // max(1, sum(each.count for each in gangs))
    for each in classes:
        if not has_options(each) or options.eligibility.prices.of(each.ask) is None:
            found.extend(options.of([each]))
        else:
            own = Bidding(Contest(options, each, rivals), hosts)
            found.extend(own.options)
            of_gangs[each.first] = own
    return Bids(found, of_gangs)


def _shapes(each: RunClass) -> Sequence[Ask]:
    return each.ways or (each.ask,)


@dataclass(frozen=True)
class Bidding:
    """The options of one class of runs."""

    contest: Contest
    most_hosts: int | None = None
    """Of all its deals together; the best of them are kept, and one at least."""

    @property
    def _each(self) -> RunClass:
        return self.contest.each

    @cached_property
    def options(self) -> Sequence[RunClass]:
        """Every option, the best first; of several runs, one for each of them."""
        if not self.contest.singles and not self.contest.deals:
            return ()
        kept = self._kept
        found = [
            replace(self._each, ask=ask, own=self.contest.own) for ask, _ in self.contest.singles
        ]
        found += [replace(self._each, ask=deal.ask, group=deal.group, deal=deal) for deal in kept]
        copied = self._copied(found)
        return [replace(own, option=number) for number, own in enumerate(copied)]

    @cached_property
    def every(self) -> Sequence[RunClass]:
        """All options, those of deals that aren't among the best too."""
        return replace(self, most_hosts=None).options

    @cached_property
    def is_whole(self) -> bool:
        """Whether no deal is left out."""
        return len(self._kept) == len(self._tiered) and len(self._tiered) < MOST_DEALS

    @cached_property
    def _tiered(self) -> Sequence[Deal]:
        """All deals, the best first."""
        tiered = [deal for raw in self.contest.deals for deal in self._in_tiers(raw)]
        return sorted(tiered, key=self._rank)

    @cached_property
    def _kept(self) -> Sequence[Deal]:
        """Those that are among a run's options."""
        kept = self._tiered[:MOST_DEALS]
        if self.most_hosts is None:
            return kept
        ends = np.cumsum([len(deal.hosts) for deal in kept], dtype=np.int64)
        return kept[: max(1, int(np.searchsorted(ends, self.most_hosts, side="right")))]

    def _copied(self, found: Sequence[RunClass]) -> Iterable[RunClass]:
        """Return the options once for each run, so that each can have limits of its own."""
        runs = self._each.count
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
        wanted, own = deal.base.work.run.placement, self.contest.own
        is_fast = self.contest.by == "finish_s"
        within: tuple[Cap, ...] = ()
        if is_fast:
            most = scaled(own.cheapest, 0, self.contest.bands.speed_cost)
            within = (Cap("value", "risked", most),)
        plain = replace(deal, caps=(*deal.caps, *within))
        yield from self._appraised(plain, Tier.PLAIN)
        if is_fast and int((deal.bills.risked * deal.most).sum()) > most:
            yield from self._appraised(deal, Tier.BEYOND)
        if wanted.interruptible == "prefer":
            allowed = scaled(own.lowest, 1, self.contest.bands.interruptible_prefer)
            some = plain.only(self.contest.prices.interruptible[deal.hosts])
            if not is_fast:
                some = replace(some, caps=(*some.caps, Cap("value", self.contest.what, allowed)))
            if not is_fast or deal.finish_s <= allowed:
                yield from self._appraised(some, Tier.PREFERRED)
        if wanted.pool is not None:
            inside = (self.contest.prices.pools[deal.hosts] == wanted.pool).astype(np.bool_)
            yield from self._appraised(deal.only(inside), Tier.POOL)

    def _appraised(self, deal: Deal, tier: Tier) -> Iterator[Deal]:
        """Yield the deal with what it is worth, where a run fits."""
        if not len(deal.hosts) or deal.least(deal.bills.rate) is None:
            return
        own, hosts, bills = self.contest.own, deal.hosts, deal.bills
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
            measure = self.contest.figure(deal)
            worth = over(product(measure, own.seconds), HOUR_S)
            regret = np.minimum(worth, VAST).astype(np.int64)
            of_run = OfRun(0, -(own.lowest * own.seconds // HOUR_S))
        appraisal = Appraisal(
            hosts=hosts,
            profile=self.contest.profile,
            by=own.by,
            tier=np.full(len(hosts), tier, np.int64),
            measure=measure,
            regret=regret,
            cost=bills.cost,
            lowest=own.lowest,
            least=own.least,
            bands=self.contest.bands,
            of_run=of_run,
        )
        yield replace(deal, appraisal=appraisal)


def _is_flat(deal: Deal) -> bool:
    """Whether it is all one to a run where it is on these hosts."""
    each = deal.appraisal
    assert each is not None
    is_plain = not (each.measure.any() or each.cost.any() or deal.caps)
    return is_plain and int(each.tier[0]) == Tier.PLAIN and each.by != "finish_s"
