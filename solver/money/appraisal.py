"""What its hosts are worth to a run by its profile: as if it were alone in the cycle.

Hosts stand in tiers: those of the pool that the run names before all; those that can be interrupted
where it prefers that; the others; and, for a run that wants speed, those too dear for it. Within a
tier the least measure is best. Regret is what a host is worse by than the best, in micro-dollars,
so that it sums over runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

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
        )


def appraised(ask: Ask, prices: Prices, hosts: Ints) -> Appraisal | None:
    """Return what hosts that would take a run are worth to it; None where nothing tells them apart.

    `hosts` are all that would take it alone, with what is free at the start.
    """
    priced, bands = prices.of(ask), prices.snapshot.policy.bands
    if priced is None or not len(hosts):
        return None
    by, measure = _measured(ask.profile, priced, hosts)
    cost = priced.risked[hosts]
    tier = np.full(len(hosts), Tier.PLAIN, np.int64)
    beyond = np.zeros(len(hosts), np.bool_)
    if by == "finish_s":
        beyond = cost > scaled(int(cost.min()), 0, bands.speed_cost)
    lowest = int(measure[~beyond].min())
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
        regret=_regret(by, priced, hosts, np.where(beyond, VAST, measure), lowest, beyond),
        cost=priced.cost[hosts],
        lowest=lowest,
        least=_least(by, priced, hosts, measure, lowest),
        bands=bands,
    )


def _measured(profile: Profile, priced: Priced, hosts: Ints) -> tuple[Measure, Ints]:
    """Return by what a profile chooses: by the rate where nobody knows how long the run takes."""
    match profile:
        case "balanced":
            return "usd_per_hour", priced.ranked_rate[hosts]
        case _ if not priced.is_total[hosts].all():
            return "usd_per_hour", priced.risked_rate[hosts]
        case "cost":
            return "cost_usd", priced.risked[hosts]
        case "speed":
            return "finish_s", priced.finish_s[hosts]


def _regret(
    by: Measure, priced: Priced, hosts: Ints, measure: Ints, lowest: int, beyond: Bools
) -> Ints:
    """Return what each host is worse by than the best: by the hour, as long as it runs there."""
    cost = priced.risked[hosts]
    more = np.where(beyond, 0, measure - lowest)
    match by:
        case "usd_per_hour":
            regret = over(product(more, _seconds(priced, hosts, measure)), HOUR_S)
        case "cost_usd":
            regret = more
        case "finish_s":
            above_zero = cost[cost > 0]
            unit = int(above_zero.min()) if len(above_zero) else MICRO
            regret = over(product(more, unit), max(1, lowest))
    dear = np.minimum(np.where(beyond, cost - int(cost.min()), regret), VAST)
    return dear.astype(np.int64)


def _least(by: Measure, priced: Priced, hosts: Ints, measure: Ints, lowest: int) -> int:
    if by == "usd_per_hour":
        return ceil_div(lowest * _seconds(priced, hosts, measure), HOUR_S)
    return lowest if by == "cost_usd" else int(priced.risked[hosts].min())


def _seconds(priced: Priced, hosts: Ints, measure: Ints) -> int:
    """Return how long a run likely takes where its rate is the lowest; of no time, a second."""
    return max(1, int(priced.seconds[hosts[measure == measure.min()]].min()))


def scaled(amount: int, whole: int, share: float) -> int:
    """Return an amount times whole + share, the share as it was written; rounded down."""
    return int(amount * (whole + as_written(share)))
