"""The deals that there are for a run of several workers: for every slowest start, slowest
accelerator and number of interruptions of its nodes, with the hosts that keep to it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from stowplan.model.estimating.duration import Likely
from stowplan.model.estimating.together import Nodes, Terms
from stowplan.solver.asks import Ask
from stowplan.solver.ladder import Group, Ladder
from stowplan.solver.money.caps import caps_on
from stowplan.solver.money.deals import Bills, Deal
from stowplan.solver.money.prices import VAST, Bools, Ints, Priced, Prices
from stowplan.solver.money.undominated import undominated
from stowplan.solver.rooms import Rooms

MOST_MIXES = 300
"""Ways to mix nodes that are interrupted differently; beyond it only those of at most two kinds,
as many, the cheapest kinds first."""
FEW = 24
"""Hosts of a group that are all looked at, however dear."""


@dataclass(frozen=True)
class Dealer:
    """Makes the deals for runs, on the hosts that have room for them."""

    prices: Prices
    ladder: Ladder

    def deals(
        self,
        ask: Ask,
        group: Group,
        slots: Ints,
        priced: Priced,
        but: str | None = None,
        rivals: int = 0,
    ) -> Iterator[Deal]:
        """Yield every deal for a run in this shape, on this group; none where nothing fits.

        `slots`: how many workers each host takes; `priced`: with what is left of the purses;
        `but` one of the limits on all workers together; `rivals`: how many workers of all runs
        there are, if there are others.
        """
        hosts = group.hosts[slots[group.hosts] > 0]
        tasks = ask.tasks or 0
        if self.ladder.workers(ask, hosts, slots[hosts]) < tasks:
            return
        caps = caps_on(priced) if group.is_bought else ()
        if but == "complete_by":
            priced = replace(priced, seconds_left=None)
        for running, inside in self._times(priced, hosts):
            own = hosts[inside]
            nodes = self.prices.nodes(priced.work, own)
            if group.is_bought and len(own) > FEW:
                known = priced.is_total[own].astype(np.int64)
                kept = undominated(
                    self.prices, ask, own, nodes, running, known, slots[own], max(tasks, rivals)
                )
                own, nodes = own[kept], self.prices.nodes(priced.work, own[kept])
            lot = _Lot(self, ask, group, priced, own, slots[own], nodes, running)
            for deal in lot.deals():
                limited = replace(deal, caps=tuple(cap for cap in caps if cap.rule != but))
                if limited.least(limited.bills.rate) is not None:
                    yield limited

    def _times(self, priced: Priced, hosts: Ints) -> Iterator[tuple[Likely | None, Bools]]:
        """Yield how long the work could take on the slowest node, and which hosts are no slower.

        None where it isn't known on some of them: on all hosts.
        """
        known = priced.is_total[hosts]
        likely, worst = priced.seconds[hosts], priced.seconds_p90[hosts]
        for p50 in np.unique(likely[known]).tolist():
            for p90 in np.unique(worst[known & (likely <= p50)]).tolist():
                yield Likely(p50, p90), known & (likely <= p50) & (worst <= p90)
        if not known.all():
            yield None, np.ones(len(hosts), np.bool_)


@dataclass(frozen=True, eq=False)
class _Lot:
    """Hosts for a run that takes no longer than this on any of them."""

    dealer: Dealer
    ask: Ask
    group: Group
    priced: Priced
    hosts: Ints
    slots: Ints
    nodes: Nodes
    running: Likely | None

    def deals(self) -> Iterator[Deal]:
        """Yield the deals by how often nodes are interrupted, and by the slowest start."""
        for needs, share, counted, waited in self._mixes():
            terms = Terms(Likely(0, 0), self.running, counted, waited)
            kept = share >= 0
            if self.priced.seconds_left is not None:
                rest = self.nodes.finish_s(terms, 1)
                kept = kept & (self.nodes.start_s[1] + rest <= self.priced.seconds_left)
            starts = self.nodes.start_s[0]
            for start in np.unique(starts[kept]).tolist():
                own = kept & (starts <= start)
                if self._fits(own, needs, share):
                    worst = int(self.nodes.start_s[1][own].max())
                    yield self._deal(
                        own, needs, share, terms._replace(start_s=Likely(start, worst))
                    )

    @cached_property
    def _most(self) -> Ints:
        most = np.minimum(self.slots, self.ask.tasks or 0)
        alone = not (self.group.is_bought or self.ask.may_share)
        return np.minimum(most, 1) if alone else most

    @cached_property
    def _wanted(self) -> Bools:
        if self.running is None:
            return ~self.priced.is_total[self.hosts]
        return np.ones(len(self.hosts), np.bool_)

    def _fits(self, own: Bools, needs: Sequence[int], share: Ints) -> bool:
        """Whether a run fits on these hosts."""
        most, ladder = self._most, self.dealer.ladder
        return (
            all(int(most[own & (share == k)].sum()) >= n for k, n in enumerate(needs))
            and bool((self._wanted & own).any())
            and ladder.workers(self.ask, self.hosts[own], most[own]) >= (self.ask.tasks or 0)
        )

    def _deal(self, own: Bools, needs: tuple[int, ...], share: Ints, terms: Terms) -> Deal:
        hosts, priced = self.hosts, self.priced
        cost = np.minimum(self.nodes.costs(terms), VAST).astype(np.int64)
        bills = Bills(
            priced.rate[hosts],
            priced.ranked_rate[hosts],
            priced.risked_rate[hosts],
            cost[0],
            cost[1],
            np.minimum(self.nodes.risked(cost[0]), VAST).astype(np.int64),
        )
        units = None
        if self.ask.spread in ("rack", "fabric"):
            units = self.dealer.ladder.units(self.ask.spread)[hosts]
        likely, worst = (self.nodes.finish_s(terms, level) for level in (0, 1))
        whole = Deal(
            self.ask, self.group, priced, hosts, self._most, share, needs, self._wanted, bills,
            terms, likely, worst, units,
        )  # fmt: skip
        return whole.only(own)

    def _mixes(self) -> Iterator[tuple[tuple[int, ...], Ints, Likely, Likely]]:
        """Yield how many nodes are interrupted how often, which hosts are, and what it comes to."""
        nothing, tasks = Likely(0, 0), self.ask.tasks or 0
        all_alike = np.zeros(len(self.hosts), np.int64)
        if self.running is None or not self.dealer.prices.interruptible[self.hosts].any():
            yield (tasks,), all_alike, nothing, nothing
            return
        counts = self.nodes.counts(self.running)
        table = np.vstack((counts, self.nodes.again_s * (counts > 0)))
        keys: dict[tuple[int, ...], int] = {}
        cheapest_first = np.argsort(self.priced.rate[self.hosts], kind="stable")
        for key in table.T[cheapest_first].tolist():
            keys.setdefault(tuple(key), len(keys))
        kind = np.array([keys[tuple(key)] for key in table.T.tolist()])
        most = [int(self._most[kind == number].sum()) for number in range(len(keys))]
        for mix in mixed(tasks, most):
            counted = [sum(n * key[k] for n, key in zip(mix, keys, strict=True)) for k in (0, 1)]
            waited = [
                sum(n * key[k] * key[k + 2] for n, key in zip(mix, keys, strict=True))
                for k in (0, 1)
            ]
            used = [number for number, n in enumerate(mix) if n]
            share_of = np.full(len(keys), -1, np.int64)
            share_of[used] = np.arange(len(used))
            needs = tuple(mix[number] for number in used)
            yield needs, share_of[kind], Likely(*counted), Likely(*waited)


def mixed(workers: int, most: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the ways to take so many workers from kinds that have so many each.

    Where there are too many, those that take from two kinds at most; the first of them.
    """
    found = list(itertools.islice(_ways(workers, most, len(most)), MOST_MIXES + 1))
    if len(found) <= MOST_MIXES:
        return found
    return list(itertools.islice(_ways(workers, most, 2), MOST_MIXES))


def _ways(workers: int, most: Sequence[int], kinds: int) -> Iterator[tuple[int, ...]]:
    if not most:
        if not workers:
            yield ()
        return
    if sum(most) < workers:
        return
    for own in range(min(workers, most[0] if kinds else 0), -1, -1):
        for rest in _ways(workers - own, most[1:], kinds - bool(own)):
            yield (own, *rest)


def can_buy(ask: Ask, group: Group, rooms: Rooms) -> bool:
    """Whether a run in this shape can be bought on a group of offerings, alone."""
    priced, slots = rooms.priced(ask), rooms.slots(ask)
    if priced is None or int(slots[group.hosts].sum()) < (ask.tasks or 0):
        return False
    dealer = Dealer(rooms.eligibility.prices, rooms.eligibility.ladder)
    return next(dealer.deals(ask, group, slots, priced), None) is not None
