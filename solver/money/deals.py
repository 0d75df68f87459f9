"""Deals: what hosts come to for a run of several workers, where all of them are priced together.

What one node costs depends on the others: on the slowest start, the slowest accelerator, and how
often any is interrupted. So for each of these that there could be a deal holds the hosts that keep
to it, each with its own exact bill, and bills add up. The nodes that a run gets are then on terms
no better than those of the deal that they are the best of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from stowplan.model.estimating.duration import Likely
from stowplan.model.estimating.together import Nodes, Terms
from stowplan.model.money import HOUR_S
from stowplan.solver.asks import Ask
from stowplan.solver.ladder import Group, Ladder
from stowplan.solver.money.appraisal import Appraisal
from stowplan.solver.money.caps import Cap, caps_on, cheapest
from stowplan.solver.money.prices import VAST, Bools, Ints, Priced, Prices
from stowplan.solver.rooms import Rooms

MOST_MIXES = 300
"""Ways to mix nodes that are interrupted differently; beyond it only those of at most two kinds."""


class Share:
    """So many workers of a run are on these hosts."""

    def __init__(self, hosts: Ints, workers: int) -> None:
        self.hosts, self.workers = hosts, workers


@dataclass(frozen=True, eq=False)
class Deal:
    """Hosts on which a run may be, and what it comes to there."""

    ask: Ask
    group: Group
    hosts: Ints
    """Their places, ascending."""
    most: Ints
    """How many workers of one run each of them takes."""
    priced: Priced
    """Of one worker on each host, on the terms of this deal."""
    start_s: int
    finish_s: int
    finish_p90_s: int
    """No earlier than it ends on any of its hosts."""
    shares: tuple[Share, ...] = ()
    """How many workers are on which of them."""
    one_of: Ints | None = None
    """Hosts of which there is one at least."""
    caps: tuple[Cap, ...] = ()
    """What all workers of a run come to at most."""
    units: Ints | None = None
    """By host: the rack, or fabric, over which the run's workers are spread."""
    appraisal: Appraisal | None = None
    """What it is worth to a run."""

    def only(self, kept: Bools) -> Deal:
        """Return the same on some of its hosts."""
        return replace(self, hosts=self.hosts[kept], most=self.most[kept])

    def least(self, figure: Ints, *more: Cap) -> int | None:
        """Return the least that a figure of all its workers comes to; None: no run fits."""
        return cheapest(self, figure, (*self.caps, *more))

    @cached_property
    def is_total(self) -> bool:
        """Whether it is known how long the run takes."""
        return self.one_of is None


@dataclass(frozen=True)
class Dealer:
    """Makes the deals for runs, on the hosts that have room for them."""

    prices: Prices
    ladder: Ladder

    def deals(
        self, ask: Ask, group: Group, slots: Ints, priced: Priced, but: str | None = None
    ) -> list[Deal]:
        """Return every deal for a run in this shape, on this group; none where nothing fits.

        `slots`: how many workers each host takes; `priced`: with what is left of the purses;
        `but` one of the limits on all workers together.
        """
        return list(self.each_deal(ask, group, slots, priced, but))

    def each_deal(
        self, ask: Ask, group: Group, slots: Ints, priced: Priced, but: str | None = None
    ) -> Iterator[Deal]:
        """Yield the same, one after the other."""
        hosts = group.hosts[slots[group.hosts] > 0]
        tasks = ask.tasks or 0
        if self.ladder.workers(ask, hosts, slots[hosts]) < tasks:
            return
        caps = caps_on(priced) if group.is_bought else ()
        caps = tuple(cap for cap in caps if cap.rule != but)
        if but == "complete_by":
            priced = replace(priced, seconds_left=None)
        most = np.minimum(slots[hosts], tasks)
        if not (group.is_bought or ask.may_share):
            most = np.minimum(most, 1)
        units = self.ladder.units(ask.spread) if ask.spread in ("rack", "fabric") else None
        whole = Deal(ask, group, hosts, most, priced, 0, 0, 0, caps=caps, units=units)
        for running, inside, one_of in self._times(priced, hosts):
            own = replace(whole, hosts=hosts[inside], most=most[inside], one_of=one_of)
            for deal in self._on_terms(own, running):
                if deal.least(priced.rate) is not None:
                    yield deal

    def _times(
        self, priced: Priced, hosts: Ints
    ) -> Iterator[tuple[Likely | None, Bools, Ints | None]]:
        """Yield how long the work could take on the slowest node, and which hosts are no slower.

        Where it isn't known on some of them: on all hosts, one of those at least.
        """
        known = priced.is_total[hosts]
        likely, worst = priced.seconds[hosts], priced.seconds_p90[hosts]
        for p50 in np.unique(likely[known]).tolist():
            for p90 in np.unique(worst[known & (likely <= p50)]).tolist():
                yield Likely(p50, p90), known & (likely <= p50) & (worst <= p90), None
        if not known.all():
            yield None, np.ones(len(hosts), np.bool_), hosts[~known]

    def _on_terms(self, deal: Deal, running: Likely | None) -> Iterator[Deal]:
        """Yield the deals by how often nodes are interrupted, and by the slowest start."""
        nodes = self.prices.nodes(deal.priced.work)
        for shares, count, waited in self._mixes(deal, nodes, running):
            terms = Terms(Likely(0, 0), running, count, waited)
            mixed = replace(deal, shares=shares)
            if shares:
                mixed = mixed.only(np.isin(deal.hosts, np.concatenate([s.hosts for s in shares])))
            left = deal.priced.seconds_left
            if left is not None:
                rest = nodes.finish_s(terms, 1)
                mixed = mixed.only(nodes.start_s[1][mixed.hosts] + rest <= left)
            starts = nodes.start_s[0][mixed.hosts]
            for start in np.unique(starts).tolist():
                own = mixed.only(starts <= start)
                worst = int(nodes.start_s[1][own.hosts].max())
                if self._fits(own):
                    yield self._priced(own, nodes, terms._replace(start_s=Likely(start, worst)))

    def _fits(self, deal: Deal) -> bool:
        """Whether a run fits on the hosts of a deal."""
        tasks = deal.ask.tasks or 0
        for share in deal.shares:
            if int(deal.most[np.isin(deal.hosts, share.hosts)].sum()) < share.workers:
                return False
        if deal.one_of is not None and not np.isin(deal.one_of, deal.hosts).any():
            return False
        return self.ladder.workers(deal.ask, deal.hosts, deal.most) >= tasks

    def _priced(self, deal: Deal, nodes: Nodes, terms: Terms) -> Deal:
        cost = np.minimum(nodes.costs(terms), VAST).astype(np.int64)
        seconds = terms.running[0] if terms.running else HOUR_S
        finish = nodes.finish_s(terms, 0)
        priced = replace(
            deal.priced,
            cost=cost[0],
            cost_p90=cost[1],
            risked=np.minimum(nodes.risked(cost[0]), VAST).astype(np.int64),
            seconds=np.full_like(deal.priced.seconds, seconds),
            finish_s=np.full_like(deal.priced.finish_s, finish),
            start_s=np.full_like(deal.priced.start_s, terms.start_s[0]),
        )
        return replace(
            deal,
            priced=priced,
            start_s=terms.start_s[0],
            finish_s=finish,
            finish_p90_s=nodes.finish_s(terms, 1),
        )

    def _mixes(
        self, deal: Deal, nodes: Nodes, running: Likely | None
    ) -> Iterator[tuple[tuple[Share, ...], Likely, Likely]]:
        """Yield how many nodes are interrupted how often, and what that comes to in sum."""
        nothing = Likely(0, 0)
        if running is None or not self.prices.interruptible[deal.hosts].any():
            yield (), nothing, nothing
            return
        counts = nodes.counts(running)[:, deal.hosts]
        again = nodes.again_s[:, deal.hosts]
        kinds: dict[tuple[int, ...], list[int]] = {}
        for position, key in enumerate(np.vstack((counts, again * (counts > 0))).T.tolist()):
            kinds.setdefault(tuple(key), []).append(position)
        keys, members = list(kinds), [np.array(own) for own in kinds.values()]
        most = [int(deal.most[own].sum()) for own in members]
        for mix in _mixed(deal.ask.tasks or 0, most):
            shares = tuple(
                Share(deal.hosts[own], workers)
                for own, workers in zip(members, mix, strict=True)
                if workers
            )
            both = [
                (
                    sum(n * key[level] for n, key in zip(mix, keys, strict=True)),
                    sum(n * key[level] * key[level + 2] for n, key in zip(mix, keys, strict=True)),
                )
                for level in (0, 1)
            ]
            yield shares, Likely(both[0][0], both[1][0]), Likely(both[0][1], both[1][1])


def _mixed(workers: int, most: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the ways to take so many workers from kinds that have so many each."""
    found: list[tuple[int, ...]] = []

    def take(chosen: tuple[int, ...], left: int, kinds: int) -> None:
        place = len(chosen)
        if place == len(most):
            if not left:
                found.append(chosen)
            return
        for own in range(min(left, most[place]) + 1):
            if (not own or kinds) and len(found) <= MOST_MIXES * 20:
                take((*chosen, own), left - own, kinds - bool(own))

    take((), workers, len(most))
    if len(found) > MOST_MIXES:
        found.clear()
        take((), workers, 2)
    return found


def can_buy(ask: Ask, group: Group, rooms: Rooms) -> bool:
    """Whether a run in this shape can be bought on a group of offerings, alone."""
    priced, slots = rooms.priced(ask), rooms.slots(ask)
    if priced is None or int(slots[group.hosts].sum()) < (ask.tasks or 0):
        return False
    eligibility = rooms.eligibility
    dealer = Dealer(eligibility.prices, eligibility.ladder)
    return next(dealer.each_deal(ask, group, slots, priced), None) is not None
