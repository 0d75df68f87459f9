"""What a run of several workers would cost: sets of hosts, the best of every group first.

As if it were alone in the cycle. All hosts of a set are priced together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np

from stowplan.model.decision import Estimate
from stowplan.model.estimating.gang import GangOutlook, Node, gang_outlook
from stowplan.model.estimating.gang_estimate import gang_estimate
from stowplan.model.reasons import Reason
from stowplan.model.runs import Profile, Run
from stowplan.solver.asks import Ask, RunClass
from stowplan.solver.hosts import Host
from stowplan.solver.money.appraisal import Appraisal, Measure, Tier, appraised
from stowplan.solver.money.bids import Bidding
from stowplan.solver.money.caps import best_set
from stowplan.solver.money.contest import Contest
from stowplan.solver.money.deals import Deal
from stowplan.solver.money.purses import with_purses
from stowplan.solver.options import Options

if TYPE_CHECKING:
    from stowplan.solver.pricing import Market, OutHosts, RankedHost


class HostSet(NamedTuple):
    """Hosts that would take a run together, each with how many of its workers."""

    hosts: tuple[tuple[Host, int], ...]
    tier: int
    measure: int
    appraisal: Appraisal
    told: GangOutlook

    @property
    def name(self) -> str:
        """The hosts as they are told: "3 x a, 1 x b"; of a single worker its host alone."""
        if sum(count for _, count in self.hosts) == 1:
            return self.hosts[0][0].name
        return ", ".join(f"{count} x {host.name}" for host, count in self.hosts)


@dataclass(frozen=True)
class GangRanking:
    """The sets of hosts that would take one run, one for each group and its terms."""

    market: Market
    run: Run
    each: RunClass
    out: Sequence[OutHosts]
    """The hosts that wouldn't take a worker, by their reasons."""
    is_of_sets: ClassVar[Literal[True]] = True

    @property
    def ask(self) -> Ask:
        """What each worker asks, in the shape for which reasons are told."""
        return self.each.ask

    @cached_property
    def _contest(self) -> Contest:
        return Contest(Options(self.market.eligibility), self.each)

    @property
    def profile(self) -> Profile:
        """What the run chooses by."""
        return self.ask.profile

    @property
    def measure(self) -> Measure:
        """What measures are in."""
        return self._contest.by

    @property
    def order(self) -> Sequence[HostSet]:
        """The sets, the best first."""
        return self._sets

    @cached_property
    def _sets(self) -> Sequence[HostSet]:
        found: dict[tuple[tuple[str, int], ...], HostSet] = {}
        for each in self._all():
            key = tuple((host.name, count) for host, count in each.hosts)
            if key not in found or each.tier < found[key].tier:
                found[key] = each
        return sorted(
            found.values(),
            key=lambda each: (each.tier, each.measure, each.told.start_s.p50, each.name),
        )

    def _all(self) -> Iterator[HostSet]:
        for option in Bidding(self._contest).options:
            if option.deal is not None and option.deal.appraisal is not None:
                yield from self._of_deal(option.deal, option.deal.appraisal)
            elif option.deal is None:
                yield from self._singles(option)

    def _of_deal(self, deal: Deal, appraisal: Appraisal) -> Iterator[HostSet]:
        chosen = best_set(deal, appraisal.regret, deal.caps)
        if chosen is None or appraisal.of_run is None:
            return
        taken = [(int(deal.hosts[at]), int(chosen[at])) for at in np.nonzero(chosen)[0]]
        hosts = tuple((self.market.eligibility.hosts[place], count) for place, count in taken)
        told = gang_outlook(self.run, self._nodes(hosts))
        yield HostSet(
            hosts, int(appraisal.tier[0]), appraisal.measure_of_run(taken), appraisal, told
        )

    def _singles(self, option: RunClass) -> Iterator[HostSet]:
        prices, rooms = self.market.eligibility.prices, self.market.rooms
        places = np.nonzero(rooms.slots(option.ask))[0]
        appraisal = appraised(option.ask, prices, places, option.own)
        if appraisal is None:
            return
        for at in appraisal.order()[:100].tolist():
            hosts = ((self.market.eligibility.hosts[int(appraisal.hosts[at])], 1),)
            told = gang_outlook(self.run, self._nodes(hosts))
            tier, measure = int(appraisal.tier[at]), int(appraisal.measure[at])
            yield HostSet(hosts, tier, measure, appraisal, told)

    def _nodes(self, hosts: Sequence[tuple[Host, int]]) -> list[Node]:
        assert self.ask.work is not None
        running = self.market.eligibility.prices.running(self.ask.work)
        return [
            Node(host.tariff, running[host.accelerators])
            for host, count in hosts
            for _ in range(count)
        ]

    @cached_property
    def hosts(self) -> Sequence[RankedHost]:
        """All sets, the best first."""
        return self.best(len(self._sets))

    def best(self, most: int) -> list[RankedHost]:
        """Return the best sets, at most so many; their amounts are of the whole run."""
        from stowplan.solver.pricing import RankedHost

        found = []
        for each in self._sets[:most]:
            seen, interruptible = each.told.seen, self.market.eligibility.prices.interruptible
            found.append(
                RankedHost(
                    name=each.name,
                    kind=each.hosts[0][0].kind,
                    tier=each.tier,
                    measure=each.measure,
                    is_as_good=self._is_as_good(each),
                    rate=seen.rate,
                    cost=seen.cost,
                    finish_s=seen.finish_s,
                    is_total=seen.is_total,
                    is_interruptible=any(interruptible[host.place] for host, _ in each.hosts),
                )
            )
        return found

    def _is_as_good(self, each: HostSet) -> bool:
        best = self._sets[0]
        if each.tier != best.tier or each.tier == Tier.BEYOND:
            return each is best
        return each.measure <= best.appraisal.limit(best.tier, best.measure)

    @cached_property
    def named(self) -> Mapping[str, HostSet]:
        """The sets by name, and by that of a host which takes all of the run."""
        alone = {own.hosts[0][0].name: own for own in self._sets[::-1] if len(own.hosts) == 1}
        return alone | {each.name: each for each in self._sets}

    def reasons(self, host: str) -> tuple[Reason, ...]:
        """Return why a host wouldn't take a worker; nothing: it would. Raises KeyError."""
        own = self.market.named[host]
        failing = self.market.eligibility.failing(self.ask, own, own.start)
        return tuple(each.reason for each in failing)

    def estimate(self, name: str) -> Estimate:
        """Return what the run costs on a set, and when it ends there. Raises KeyError."""
        nodes = self._nodes(self.named[name].hosts)
        told = gang_estimate(self.run, nodes, self.market.snapshot.now)
        priced = self.market.eligibility.prices.of(self.ask)
        return with_purses(told, priced.purses if priced else ())
