"""What one run would cost on every host, the best first: as if it were alone in the cycle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from stowplan.model.decision import Estimate, HostKind
from stowplan.model.estimating.duration import Likely, RunningTime
from stowplan.model.estimating.estimate import estimate
from stowplan.model.reasons import Reason
from stowplan.model.runs import Profile, Run
from stowplan.model.shape import Shape
from stowplan.model.snapshot import Snapshot
from stowplan.solver.asks import Ask, Asked, RunClass, ask_of, classes_of
from stowplan.solver.cycle import RULES
from stowplan.solver.eligibility import Eligibility
from stowplan.solver.explain.alike import MOST_ROWS, Said, ends, rows
from stowplan.solver.explain.answers import answers
from stowplan.solver.explain.bought import Buying
from stowplan.solver.gang_pricing import GangRanking
from stowplan.solver.hosts import Host
from stowplan.solver.money.appraisal import Appraisal, Measure, appraised
from stowplan.solver.money.bands import within
from stowplan.solver.money.prices import Ints, Priced
from stowplan.solver.money.profiles import FAILED, OWN
from stowplan.solver.money.purses import with_purses
from stowplan.solver.options import Options
from stowplan.solver.rooms import Rooms
from stowplan.solver.settings import Settings
from stowplan.solver.shapes import open_shapes


class RankedHost(NamedTuple):
    """A host that would take a run, and what the run would cost there."""

    name: str
    kind: HostKind
    tier: int
    measure: int
    """By what the run's profile chooses: micro-dollars, or seconds until it is done."""
    is_as_good: bool
    """Whether it is within the band of the best."""
    rate: int
    """Micro-dollars an hour."""
    cost: Likely
    """Micro-dollars to completion; what is sure alone where the running time isn't known."""
    finish_s: Likely
    """Seconds from now, as is likely and at worst."""
    is_total: bool
    is_interruptible: bool


class OutHosts(NamedTuple):
    """Hosts that wouldn't take a run, for the same reasons, the deciding one first."""

    hosts: tuple[str, ...]
    reasons: tuple[Reason, ...]


class Market:
    """The hosts of a snapshot with their prices: read once, asked for any run."""

    def __init__(self, snapshot: Snapshot, settings: Settings | None = None) -> None:
        """Read the hosts."""
        self.snapshot = snapshot
        self.settings = settings or Settings.of(snapshot)
        self.eligibility = Eligibility.of(RULES, snapshot)
        hosts = self.eligibility.hosts
        self.rooms = Rooms(self.eligibility, hosts, {host.name: host.start for host in hosts})

    @cached_property
    def named(self) -> Mapping[str, Host]:
        """The hosts by name."""
        return {host.name: host for host in self.eligibility.hosts}

    def ranked(self, run: Run) -> Ranking | GangRanking | Reason:
        """Return the hosts by what they are worth to a run; or why its shape is impossible.

        As if the run were alone: beside what runs already, and with all that budgets have left. Of
        a run that may have several workers, sets of hosts.
        """
        shapes = open_shapes(run, self.eligibility.rules)
        if isinstance(shapes, Reason):
            return shapes
        shape = shapes[0]
        ask = self._ask(run, shape)
        if any((each.tasks or 0) > 1 for each in shapes):
            ways = tuple(self._ask(run, each) for each in shapes)
            told = next((way for way in ways if self.rooms.fits(way)), ways[0])
            [each] = classes_of([Asked(run, told, ways)], self.snapshot)
            ranking = GangRanking(self, run, each, self.out(told))
            if not ranking.order and (reason := self._infeasible(each)):
                return reason
            return ranking
        priced = self.eligibility.prices.of(ask)
        assert priced is not None
        places = np.nonzero(self.rooms.slots(ask))[0]
        return Ranking(self, run, ask, priced, appraised(ask, self.eligibility.prices, places))

    def _infeasible(self, each: RunClass) -> Reason | None:
        """Return which rule leaves a run of several workers no set of instances."""
        return Buying(Options(self.eligibility), each, self.rooms).why_not()

    def out(self, ask: Ask) -> Sequence[OutHosts]:
        """Return the hosts that wouldn't take a worker, by their reasons."""
        listed = np.array([host.place for host in self.eligibility.listed(ask)], np.int64)
        names = [host.name for host in self.eligibility.hosts]
        said = (
            Said(each.hosts, 0, ends(each))
            for each in answers(self.rooms, ask, listed, MOST_ROWS)
            if each.most
        )
        return [
            OutHosts(tuple(names[place] for place in row.hosts.tolist()), row.reasons)
            for row in rows(said)
        ]

    def _ask(self, run: Run, shape: Shape) -> Ask:
        return ask_of(run, shape, self.snapshot, self.settings.profile, is_priced=True)


def ranked(
    snapshot: Snapshot, run: str, settings: Settings | None = None
) -> Ranking | GangRanking | Reason:
    """Return what one run of a snapshot would cost on every host, the best first.

    Raises KeyError where the snapshot has no such run.
    """
    runs = {each.name: each for each in snapshot.runs}
    return Market(snapshot, settings).ranked(runs[run])


@dataclass(frozen=True)
class Ranking:
    """The hosts that would take one run, and the others with their reasons."""

    market: Market
    run: Run
    ask: Ask
    priced: Priced
    appraisal: Appraisal | None
    is_of_sets: ClassVar[Literal[False]] = False
    """Whether what is ranked are sets of hosts."""

    @property
    def profile(self) -> Profile:
        """What the run chooses by; by the rate alone (balanced) where no time is known."""
        return self.appraisal.profile if self.appraisal else self.ask.profile

    @property
    def measure(self) -> Measure:
        """What measures are in."""
        return self.appraisal.by if self.appraisal else "usd_per_hour"

    @cached_property
    def order(self) -> Ints:
        """The positions of the hosts in the appraisal, the best first.

        Those within the band of the best by what the profile prefers; then the others by value.
        """
        each = self.appraisal
        if each is None:
            return np.zeros(0, np.int64)
        best = each.order()[0]
        outside = ~within(each, (int(each.tier[best]), int(each.measure[best])))
        prices, ask = self.market.eligibility.prices, self.ask
        preferred = [
            own.by_host(prices, ask, self.priced)[each.hosts] * own.sign * ~outside
            for own in (FAILED, *OWN)
            if each.profile in own.profiles
        ]
        sound = self.market.rooms.count(ask, lambda has: has.sound)[each.hosts]
        at_risk = np.maximum(0, ask.gpus - sound) * ~prices.offered[each.hosts]
        value = (each.measure * outside, each.tier * outside, outside)
        return np.lexsort(
            (each.hosts, each.measure, *reversed(preferred), at_risk * ~outside, *value)
        )

    @cached_property
    def hosts(self) -> Sequence[RankedHost]:
        """The hosts that would take the run, the best first."""
        return self.best(len(self.order))

    def best(self, most: int) -> list[RankedHost]:
        """Return the best hosts, at most so many."""
        each, priced = self.appraisal, self.priced
        if each is None:
            return []
        first = each.order()[0]
        inside = within(each, (int(each.tier[first]), int(each.measure[first])))
        found = []
        for at in self.order[:most].tolist():
            place = int(each.hosts[at])
            host = self.market.eligibility.hosts[place]
            found.append(
                RankedHost(
                    name=host.name,
                    kind=host.kind,
                    tier=int(each.tier[at]),
                    measure=int(each.measure[at]),
                    is_as_good=bool(inside[at]),
                    rate=int(priced.rate[place]),
                    cost=Likely(int(priced.cost[place]), int(priced.cost_p90[place])),
                    finish_s=Likely(int(priced.finish_s[place]), int(priced.finish_p90_s[place])),
                    is_total=self.running(host) is not None,
                    is_interruptible=bool(priced.interruptible[place]),
                )
            )
        return found

    @cached_property
    def out(self) -> Sequence[OutHosts]:
        """The hosts that wouldn't take the run, by their reasons."""
        return self.market.out(self.ask)

    def reasons(self, host: str) -> tuple[Reason, ...]:
        """Return why a host wouldn't take the run; nothing: it would. Raises KeyError."""
        own = self._named(host)
        failing = self.market.eligibility.failing(self.ask, own, own.start)
        return tuple(each.reason for each in failing)

    def running(self, host: Host) -> RunningTime | None:
        """Return how long the run takes on a host, where that is known."""
        assert self.ask.work is not None
        return self.market.eligibility.prices.running(self.ask.work)[host.accelerators]

    def _named(self, host: str) -> Host:
        return self.market.named[host]

    def estimate(self, host: str) -> Estimate:
        """Return what the run costs on a host, and when it ends there. Raises KeyError."""
        own = self._named(host)
        hosts = 1 if self.ask.array else self.ask.tasks or 1
        now = self.market.snapshot.now
        told = estimate(self.run, own.tariff, self.running(own), now, hosts)
        return with_purses(told, self.priced.purses)
