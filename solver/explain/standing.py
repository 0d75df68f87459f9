"""How a placed run's hosts compare with all others: scores, fallbacks, and why no other host."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from stowplan.model.decision import Rejected, Scores
from stowplan.model.reasons import Code, Reason
from stowplan.solver import points
from stowplan.solver.asks import RunClass
from stowplan.solver.decode import Seat
from stowplan.solver.explain import fallbacks
from stowplan.solver.explain.alike import grouped
from stowplan.solver.hosts import Host
from stowplan.solver.matching import tally
from stowplan.solver.situation import Situation, given_back


class Willing(NamedTuple):
    """A host that could take one more worker of a class."""

    host: Host
    at_risk: int
    """How many GPUs at risk the worker would take."""
    points: int
    """What the worker would earn there."""
    gain: int
    """What all workers there would earn more, itself included."""


@dataclass(frozen=True)
class Standing:
    """How the hosts compare for one class, with all else as decided; worked out once a class."""

    situation: Situation
    each: RunClass

    @cached_property
    def refusing(self) -> tuple[Rejected, ...]:
        """The hosts that can't take one more of its workers, with their reasons."""
        ask, eligibility = self.each.ask, self.situation.eligibility
        said = []
        for host in eligibility.listed(ask):
            failing = eligibility.failing(ask, host, self.situation.room_left(host))
            if failing:
                said.append((host.name, "", tuple(each.reason for each in failing)))
        return tuple(Rejected(hosts=hosts, reasons=reasons) for hosts, _, reasons in grouped(said))

    @cached_property
    def willing(self) -> tuple[Willing, ...]:
        """Hosts that could take one more worker, best first."""
        ask, situation = self.each.ask, self.situation
        found = []
        for host in situation.eligibility.listed(ask):
            room = situation.room_left(host)
            if situation.eligibility.admits(ask, host, room):
                risk = 0 if ask.healthy_only else max(0, ask.gpus - tally(ask, host, room).sound)
                now = situation.plan.loads[host.name]
                then = now.plus(ask, host, risk)
                own, gain = points.of_worker(ask, host, then, risk), points.of_host(host, then)
                found.append(Willing(host, risk, own, gain - points.of_host(host, now)))
        return tuple(sorted(found, key=lambda each: (each.at_risk, -each.points, each.host.name)))

    def points_of(self, seat: Seat) -> int:
        """Return the points of a worker where it is."""
        load = self.situation.plan.loads[seat.host.name]
        return points.of_worker(self.each.ask, seat.host, load, seat.at_risk)

    def scores(self, seats: Sequence[Seat]) -> Scores:
        """Return the scores of a run on its hosts: the mean over its workers."""

        def mean(values: Iterator[float]) -> float:
            listed = list(values)
            return round(sum(listed) / len(listed), 4)

        return Scores(
            fit=mean(self._fit(seat.host) for seat in seats),
            time_to_result=1.0,
            cost_to_complete=1.0,
            recovery_value=1.0,
            health=mean(_health(seat.host) for seat in seats),
            points=round(mean(self.points_of(seat) / points.POINT for seat in seats), 3),
        )

    def _fit(self, host: Host) -> float:
        whole = len(host.empty.devices)
        return 1 - len(self.situation.room_left(host).devices) / whole if whole else 0.0

    def rejected(self, seats: Sequence[Seat]) -> tuple[Rejected, ...]:
        """Return every other host with its reasons: those that would do, then those that can't."""
        own = {seat.host.name for seat in seats}
        rows = list(self._outranked(seats, own))
        for row in self.refusing:
            names = tuple(name for name in row.hosts if name not in own)
            if names:
                rows.append(
                    row
                    if len(names) == len(row.hosts)
                    else Rejected(hosts=names, reasons=row.reasons)
                )
        return tuple(rows)

    def _outranked(self, seats: Sequence[Seat], own: set[str]) -> Iterator[Rejected]:
        risk = max(seat.at_risk for seat in seats)
        worst = min(seats, key=self.points_of)
        earned, lost = self.points_of(worst), self._lost_without(worst)
        alike: dict[tuple[bool, int, int], list[str]] = {}
        for each in self.willing:
            if each.host.name in own:
                continue
            if each.at_risk > risk:
                key = (True, each.at_risk, 0)
            else:
                better = (each.gain > lost) - (each.gain < lost)
                key = (False, each.points, better)
            alike.setdefault(key, []).append(each.host.name)
        for (is_riskier, value, better), names in alike.items():
            reason = _riskier(value, risk) if is_riskier else _not_better(value, earned, better)
            yield Rejected(hosts=tuple(names), reasons=(reason,))

    def _lost_without(self, seat: Seat) -> int:
        """Return how many points fewer all runs on a worker's host would earn without it."""
        load = self.situation.plan.loads[seat.host.name]
        without = load.plus(self.each.ask, seat.host, seat.at_risk, times=-1)
        return points.of_host(seat.host, load) - points.of_host(seat.host, without)

    def fallbacks(self, seats: Sequence[Seat]) -> tuple[str, ...]:
        """Return whole alternatives that fit with the rest fixed, best first.

        Of an array, the hosts that could take one of its elements instead.
        """
        ask, situation = self.each.ask, self.situation
        own = sorted(seat.host.name for seat in seats)
        if len(seats) == 1 or ask.array:
            names = [each.host.name for each in self.willing if each.host.name not in own]
            return tuple(names[: fallbacks.MOST])
        freed = dict(situation.left)
        for seat in seats:
            freed[seat.host.name] = given_back(freed[seat.host.name], ask, seat)
        slots = {
            host: situation.eligibility.slots(ask, host, freed[host.name])
            for host in situation.eligibility.listed(ask)
        }
        takers = sorted((-self._worth(host, own), host.name, slots[host]) for host in slots)
        takers = [each for each in takers if each[2]]
        ways: Iterable[list[str]] = fallbacks.apart(takers, len(own))
        if ask.may_share:
            ways = fallbacks.sharing(takers, len(own), functools.partial(self._earned, own))
        found = ("+".join(each) for each in ways if each != own)
        return tuple(itertools.islice(found, fallbacks.MOST))

    def _earned(self, own: Collection[str], names: Sequence[str]) -> int:
        """Return what the run's workers would earn on these hosts, instead of on its own."""
        ask, earned = self.each.ask, 0
        hosts = {host.name: host for host in self.situation.hosts}
        for name, count in Counter(names).items():
            more = count - Counter(own)[name]
            load = self.situation.plan.loads[name].plus(ask, hosts[name], 0, times=more)
            earned += count * points.of_worker(ask, hosts[name], load, 0)
        return earned

    def _worth(self, host: Host, own: Collection[str]) -> int:
        """Return the points of one of its workers on a host, where there is one or would be."""
        load = self.situation.plan.loads[host.name]
        load = load if host.name in own else load.plus(self.each.ask, host, 0)
        return points.of_worker(self.each.ask, host, load, 0)


def _health(host: Host) -> float:
    devices = host.machine.devices
    return sum(device.health == "healthy" for device in devices) / len(devices) if devices else 1.0


def _riskier(value: int, reference: int) -> Reason:
    text = f"would take {value} GPUs at risk, against {reference}"
    return Reason.of(Code.OUTRANKED, text, stage="at_risk", value=value, reference=reference)


def _not_better(value: int, earned: int, better: int) -> Reason:
    """Return why a host wasn't chosen; `better`: whether all together would earn more there."""
    there, here = value / points.POINT, earned / points.POINT
    text = f"{there:g} points there, {here:g} where it is"
    if better > 0:
        text += "; the search ended before it was tried"
    elif better < 0 and value >= earned:
        text += "; all runs together earn more this way"
    elif not better:
        text = f"as good ({there:g} points)" if value == earned else f"{text}, as good for all"
    stage = "points" if better else "canonical"
    return Reason.of(Code.OUTRANKED, text, stage=stage, value=there, reference=here)
