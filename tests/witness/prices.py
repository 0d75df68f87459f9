"""What a host is worth to one run: its limits, its tier there, what its profile measures.

Whole numbers throughout: micro-dollars, micro-dollars an hour, or seconds.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from stowplan.model.estimating.duration import (
    RunningTime,
    as_written,
    family_of,
    running_time,
)
from stowplan.model.estimating.hosts import machine_tariffs
from stowplan.model.estimating.outlook import Outlook, outlook, risked
from stowplan.model.estimating.tariff import Tariff, offering_tariff
from stowplan.model.estimating.token import rate_in
from stowplan.model.fleet import Machine, Offering
from stowplan.model.instances import instance_names, instances_of
from stowplan.model.money import ceil_div, micro_of
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.witness.fits import refusals, slots
from tests.witness.machines import rooms
from tests.witness.offerings import instances_left, would_do

POOL, PREFERRED, PLAIN, BEYOND = range(4)


class Place(NamedTuple):
    """A machine, or the instances of an offering that are warm, or those that aren't."""

    name: str
    is_offering: bool = False
    is_warm: bool = False


class Value(NamedTuple):
    """A place as it ranks; the less the better."""

    tier: int
    measure: int


class Purse(NamedTuple):
    """Money that some workspaces share: what is left of it, and the rule."""

    name: str
    workspaces: frozenset[str]
    left: int


def purses(snapshot: Snapshot) -> list[Purse]:
    """Every budget and every balance."""
    policy = snapshot.policy
    return [
        *(
            Purse(f"budget {each.name}", frozenset(each.workspaces), micro_of(each.remaining_usd))
            for each in policy.budgets
        ),
        *(
            Purse(f"balance of {each.name}", frozenset({each.name}), micro_of(each.balance_usd))
            for each in policy.workspaces
            if each.balance_usd is not None
        ),
    ]


def places(snapshot: Snapshot) -> dict[Place, int]:
    """Every place, with how many instances of it can start now; of a machine 1."""
    there = {Place(machine.name): 1 for machine in snapshot.fleet.machines}
    for offering in snapshot.fleet.offerings:
        for is_warm, count in instances_left(snapshot, offering).items():
            there[Place(offering.name, True, is_warm)] = count
    return there


def place_of(snapshot: Snapshot, host: str) -> Place | None:
    """The place that a host's name in a decision stands for; None where there is no such host."""
    machines = {machine.name for machine in snapshot.fleet.machines}
    if host in machines:
        return Place(host)
    for offering in snapshot.fleet.offerings:
        there = instances_of(offering, snapshot.policy)
        names = list(instance_names(offering.name, there.warm + there.cold, machines))
        if host in names:
            return Place(offering.name, True, names.index(host) < there.warm)
    return None


class Quote(NamedTuple):
    """What one worker of a run comes to at a place."""

    tariff: Tariff
    running: RunningTime | None
    seen: Outlook
    host: Machine | Offering

    @property
    def is_interruptible(self) -> bool:
        return isinstance(self.host, Offering) and self.host.interruptible

    @property
    def pool(self) -> str | None:
        return self.host.byoc_pool if isinstance(self.host, Machine) else None

    @property
    def cost(self) -> int:
        """The expected cost."""
        return self.seen.cost.p50

    @property
    def risked(self) -> int:
        """The expected cost as it ranks where starts have failed."""
        return risked(self.cost, self.tariff.starts)

    @property
    def finish_s(self) -> int:
        return self.seen.finish_s.p50


class Prices:
    """One run before all places, as if it were alone in the cycle."""

    def __init__(self, snapshot: Snapshot, run: Run) -> None:
        self.snapshot, self.run, self.asked = snapshot, run, run.placement
        self.bands = snapshot.policy.bands
        self.owned, self.free = machine_tariffs(snapshot), rooms(snapshot)
        there = places(snapshot)
        self.quotes = {place: self._quote(place) for place in there}
        self.takers = [place for place, count in there.items() if count and self.would_do(place)]
        """The places that take it with the room of the cycle's start, limits left aside."""
        self.alone = [place for place in self.takers if not self.limits(place)]
        """Those of them that keep its limits, each as if nothing else were spent."""
        self.profile = run.placement.profile or "balanced"
        self.is_by_rate = self.profile == "balanced" or not all(
            self.quotes[place].seen.is_total for place in self.alone
        )
        """Whether it ranks by rate: as it asks, or as nobody knows how long it runs somewhere."""
        self.cheapest = min((self.quotes[place].risked for place in self.alone), default=0)
        within = [place for place in self.alone if not self._is_beyond(place)]
        self.lowest = min((self._measured(place) for place in within), default=0)
        self.values = {place: self._value(place) for place in self.alone}
        self.regrets = {place: self._regret(place) for place in self.alone}

    def _quote(self, place: Place) -> Quote:
        snapshot, host = self.snapshot, self._host(place)
        if isinstance(host, Offering):
            tariff = offering_tariff(host, snapshot.now, is_warm=place.is_warm)
        else:
            tariff = self.owned[place.name]
        known, factor = snapshot.knowledge, self.bands.duration_p90_factor
        running = running_time(self.run, family_of(host, known.cards), known.durations, factor)
        seen = outlook(self.run, tariff, running.seconds if running else None)
        return Quote(tariff, running, seen, host)

    def _host(self, place: Place) -> Machine | Offering:
        fleet = self.snapshot.fleet
        hosts = fleet.offerings if place.is_offering else fleet.machines
        return next(each for each in hosts if each.name == place.name)

    def would_do(self, place: Place) -> bool:
        """Whether a worker fits there by all but money, time and how many instances are left."""
        host = self.quotes[place].host
        if isinstance(host, Offering):
            return would_do(self.snapshot, host, self.run)
        return (
            not refusals(self.snapshot, self.run)
            and self.asked.interruptible != "require"
            and slots(self.snapshot, host, self.run, self.free) > 0
        )

    def limits(self, place: Place, spent: dict[str, int] | None = None) -> list[str]:
        """Every limit of money and time that the place breaks, beside what others spend."""
        return list(self._limits(self.quotes[place], spent or {}))

    def _limits(self, quote: Quote, spent: dict[str, int]) -> Iterator[str]:
        asked, seen = self.asked, quote.seen
        if asked.complete_by is not None:
            worst = dt.timedelta(seconds=seen.finish_s.p90)
            if self.snapshot.now + worst > asked.complete_by:
                yield "MISSES_DEADLINE"
        left = [
            purse.left - spent.get(purse.name, 0)
            for purse in purses(self.snapshot)
            if self.run.workspace in purse.workspaces
        ]
        if asked.max_cost_usd is not None:
            left.append(micro_of(asked.max_cost_usd))
        if any(quote.cost > most for most in left):
            yield "EXCEEDS_REMAINING_BUDGET"
        most = asked.max_rate_usd_per_hour
        if most is not None and seen.rate > micro_of(most):
            yield "EXCEEDS_MAX_RATE"
        if most is None and asked.if_match is not None:
            told = rate_in(asked.if_match) * (1 + as_written(self.bands.if_match))
            if seen.rate > told:
                yield "PRICE_ABOVE_ESTIMATE"

    def _measured(self, place: Place) -> int:
        """What the profile measures there."""
        quote = self.quotes[place]
        if self.is_by_rate:
            rate = quote.seen.ranked_rate
            return rate if self.profile == "balanced" else risked(rate, quote.tariff.starts)
        return quote.finish_s if self.is_by_finish else quote.risked

    @property
    def is_by_finish(self) -> bool:
        return self.profile == "speed" and not self.is_by_rate

    def _is_beyond(self, place: Place) -> bool:
        """Whether it is too dear for a run that wants speed."""
        most = as_written(self.bands.speed_cost) * self.cheapest
        return self.is_by_finish and self.quotes[place].risked > most

    def value(self, place: Place) -> Value:
        """How the place, one that keeps the limits, ranks."""
        return self.values[place]

    def _value(self, place: Place) -> Value:
        quote, measure = self.quotes[place], self._measured(place)
        is_beyond = self._is_beyond(place)
        if self.asked.pool is not None and quote.pool == self.asked.pool:
            return Value(POOL, measure)
        if is_beyond:
            return Value(BEYOND, quote.risked)
        most = (1 + as_written(self.bands.interruptible_prefer)) * self.lowest
        if self.asked.interruptible == "prefer" and quote.is_interruptible and measure <= most:
            return Value(PREFERRED, measure)
        return Value(PLAIN, measure)

    def _regret(self, place: Place) -> int:
        """What it falls short of the run's own best, in micro-dollars."""
        tier, measure = self.values[place]
        if tier == BEYOND:
            return measure - self.cheapest
        more = max(0, measure - self.lowest)
        if self.is_by_rate:
            return ceil_div(more * self._running_s, 3600)
        if self.is_by_finish:
            costs = [self.quotes[other].risked for other in self.alone]
            unit = min((cost for cost in costs if cost), default=10**6)
            return ceil_div(more * unit, max(1, self.lowest))
        return more

    @property
    def _running_s(self) -> int:
        """How long it runs where the rate is the least, an hour where that isn't known."""
        times = [
            quote.running.seconds.p50 if quote.running else 3600
            for place, quote in self.quotes.items()
            if place in self.alone and self._measured(place) == self.lowest
        ]
        return min(times)

    def widest(self, reference: Value) -> Value:
        """The worst that is still within the band of a reference."""
        if reference.tier == BEYOND or self.is_by_finish:
            return reference
        measure = int((1 + as_written(self.bands.profile)) * reference.measure)
        return Value(reference.tier, measure)

    def told(self, reference: Value) -> tuple[str, Fraction]:
        """A value as a decision tells it: the measure's name, and the figure in its unit."""
        if self.is_by_finish and reference.tier != BEYOND:
            return "finish_s", Fraction(reference.measure)
        name = "usd_per_hour" if self.is_by_rate else "cost_usd"
        return name, Fraction(reference.measure, 10**6)
