"""What its hosts are worth to a run by its profile: as if it were alone in the cycle.

Hosts stand in tiers: those of the pool that the run names before all; those that can be interrupted
where it prefers that; the others; and, for a run that wants speed, those too dear for it. Within a
tier the least measure is best. Regret is what a host is worse by than the best, in micro-dollars,
so that it sums over runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, NamedTuple

import numpy as np

from stowplan.model.estimating.columns import over, product
from stowplan.model.estimating.duration import as_written
from stowplan.model.money import HOUR_S, MICRO, ceil_div
from stowplan.model.policy import Bands
from stowplan.model.runs import Profile
from stowplan.solver.asks import Ask
from stowplan.solver.money.prices import VAST, Bools, Ints, Priced, Prices

type Measure = Literal["usd_per_hour", "cost_usd", "finish_s"]


MOST_EXCESS = 2**40
"""Micro-dollars, or seconds, beyond which it doesn't matter how much more it is."""


class Tier(IntEnum):
    """What comes before any measure."""

    POOL = 0
    """Machines of the pool that the run names."""
    PREFERRED = 1
    """Hosts that can be interrupted, within the allowance of a run that prefers them."""
    PLAIN = 2
    BEYOND = 3
    """Hosts too dear for a run that wants speed; there the cheapest is best."""


class OfRun(NamedTuple):
    """What a run of several workers comes to on top of what its hosts do, all together."""

    measure: int
    regret: int
    """Below 0 by what the best that there is for the run comes to."""


class Own(NamedTuple):
    """What a run's hosts are compared with: the best of all its shapes and groups."""

    by: Measure
    lowest: int
    """The least measure of all that isn't beyond."""
    cheapest: int
    """The least expected cost, after failed starts."""
    unit: int
    """The least of these above zero."""
    seconds: int
    """How long it likely runs where its measure is the lowest."""

    @property
    def least(self) -> int:
        """What the best comes to in micro-dollars."""
        if self.by == "usd_per_hour":
            return ceil_div(self.lowest * self.seconds, HOUR_S)
        return self.lowest if self.by == "cost_usd" else self.cheapest


@dataclass(frozen=True, eq=False)
class Appraisal:
    """The hosts of a class by what they are worth to each of its runs; an array for each figure."""

    hosts: Ints
    """Their places, ascending."""
    profile: Profile
    by: Measure
    tier: Ints
    measure: Ints
    regret: Ints
    cost: Ints
    """Expected, of one worker."""
    lowest: int
    """The least measure of a tier that isn't beyond."""
    least: int
    """What the best host comes to in micro-dollars: what regret comes on top of."""
    bands: Bands
    of_run: OfRun | None = None
    """Of a run of several workers that is priced as a whole: its hosts' figures add up. Tier and
    measure are then of the run: see `measure_of_run`."""

    def measure_of_run(self, workers: Sequence[tuple[int, int]]) -> int:
        """Return the measure of a run that has so many workers on hosts, by their places."""
        assert self.of_run is not None
        own = sum(int(self.measure[self.at(host)]) * count for host, count in workers)
        return own + self.of_run.measure

    def limit(self, tier: int, reference: int) -> int:
        """Return the greatest measure that counts as good as a reference of this tier."""
        if self.by == "finish_s" or tier == Tier.BEYOND:
            return reference
        limit = scaled(reference, 1, self.bands.profile)
        if tier == Tier.PREFERRED:
            limit = min(limit, max(reference, self.allowance))
        return limit

    @property
    def allowance(self) -> int:
        """The greatest measure at which a host that can be interrupted is preferred."""
        return scaled(self.lowest, 1, self.bands.interruptible_prefer)

    @property
    def band(self) -> float:
        """How far above its reference a run may end up, as a share."""
        return 0 if self.by == "finish_s" else self.bands.profile

    @property
    def excess(self) -> Ints:
        """By how much each measure is above the lowest: what tells hosts of one regret apart."""
        return np.minimum(np.maximum(0, self.measure - self.lowest), MOST_EXCESS)

    def at(self, host: int) -> int:
        """Return where in the arrays a host is."""
        return int(np.searchsorted(self.hosts, host))

    def order(self) -> Ints:
        """Return the positions from the best host to the worst."""
        return np.lexsort((self.measure, self.tier))

    def only(self, kept: Ints) -> Appraisal:
        """Return the same of the hosts at some positions."""
        return Appraisal(
            self.hosts[kept],
            self.profile,
            self.by,
            self.tier[kept],
            self.measure[kept],
            self.regret[kept],
            self.cost[kept],
            self.lowest,
            self.least,
            self.bands,
            self.of_run,
        )


def appraised(ask: Ask, prices: Prices, hosts: Ints, own: Own | None = None) -> Appraisal | None:
    """Return what hosts that would take a run are worth to it; None where nothing tells them apart.

    `hosts` are all that would take it alone, with what is free at the start. `own`: the best that
    there is for the run, where it may have several workers too.
    """
    priced, bands = prices.of(ask), prices.snapshot.policy.bands
    if priced is None or not len(hosts):
        return None
    by, measure = measured(
        ask.profile, priced, hosts, by_rate=own is not None and own.by == "usd_per_hour"
    )
    cost = priced.risked[hosts]
    tier = np.full(len(hosts), Tier.PLAIN, np.int64)
    beyond = np.zeros(len(hosts), np.bool_)
    own = own or own_of(by, measure, priced, hosts, bands)
    if by == "finish_s":
        beyond = cost > scaled(own.cheapest, 0, bands.speed_cost)
    lowest = own.lowest
    wanted = priced.work.run.placement
    if wanted.interruptible == "prefer":
        near = measure <= scaled(lowest, 1, bands.interruptible_prefer)
        tier[priced.interruptible[hosts] & near] = Tier.PREFERRED
    tier[beyond] = Tier.BEYOND
    if wanted.pool is not None:
        tier[(prices.pools[hosts] == wanted.pool).astype(np.bool_)] = Tier.POOL
    beyond = tier == Tier.BEYOND
    measure = np.where(beyond, cost, measure)
    return Appraisal(
        hosts=hosts,
        profile=ask.profile,
        by=by,
        tier=tier,
        measure=measure,
        regret=_regret(own, priced, hosts, measure, beyond),
        cost=priced.cost[hosts],
        lowest=lowest,
        least=own.least,
        bands=bands,
    )


def own_of(by: Measure, measure: Ints, priced: Priced, hosts: Ints, bands: Bands) -> Own:
    """Return the best that there is for a run of one worker."""
    cost = priced.risked[hosts]
    cheapest = int(cost.min())
    beyond = np.zeros(len(hosts), np.bool_)
    if by == "finish_s":
        beyond = cost > scaled(cheapest, 0, bands.speed_cost)
    seconds = max(1, int(priced.seconds[hosts[measure == measure.min()]].min()))
    above_zero = cost[cost > 0]
    unit = int(above_zero.min()) if len(above_zero) else MICRO
    return Own(by, int(measure[~beyond].min()), cheapest, unit, seconds)


def measured(
    profile: Profile, priced: Priced, hosts: Ints, *, by_rate: bool = False
) -> tuple[Measure, Ints]:
    """Return by what a profile chooses: by the rate where nobody knows how long the run takes."""
    match profile:
        case "balanced":
            return "usd_per_hour", priced.ranked_rate[hosts]
        case _ if by_rate or not priced.is_total[hosts].all():
            return "usd_per_hour", priced.risked_rate[hosts]
        case "cost":
            return "cost_usd", priced.risked[hosts]
        case "speed":
            return "finish_s", priced.finish_s[hosts]


def _regret(own: Own, priced: Priced, hosts: Ints, measure: Ints, beyond: Bools) -> Ints:
    """Return what each host is worse by than the best: by the hour, as long as it runs there."""
    cost = priced.risked[hosts]
    more = np.where(beyond, 0, measure - own.lowest)
    match own.by:
        case "usd_per_hour":
            regret = over(product(more, own.seconds), HOUR_S)
        case "cost_usd":
            regret = more
        case "finish_s":
            regret = over(product(more, own.unit), max(1, own.lowest))
    dear = np.minimum(np.where(beyond, cost - own.cheapest, regret), VAST)
    return dear.astype(np.int64)


def scaled(amount: int, whole: int, share: float) -> int:
    """Return an amount times whole + share, the share as it was written; rounded down."""
    return int(amount * (whole + as_written(share)))
