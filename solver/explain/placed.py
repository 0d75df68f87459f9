"""Why a placed run is where it is: scores, what it asked and got, fallbacks, every other host."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple

from stowplan.model.decision import ChosenShape, Got, Rejected, Scores, Value, Worker
from stowplan.model.reasons import Code, Reason
from stowplan.solver import points
from stowplan.solver.asks import Ask, RunClass
from stowplan.solver.decode import Seat, Start
from stowplan.solver.explain.alike import grouped
from stowplan.solver.hosts import Host
from stowplan.solver.matching import tally
from stowplan.solver.situation import Situation, given_back

MOST_FALLBACKS = 10


def workers_of(starts: Sequence[Start]) -> tuple[Worker, ...]:
    """Return a run's workers, numbered from 0; of an array, one for each element that starts."""
    seats = [(start, seat) for start in starts for seat in start.seats]
    return tuple(
        Worker(
            index=index,
            host=seat.host.name,
            devices=seat.devices,
            environment=_environment(seat),
            element=start.element,
        )
        for index, (start, seat) in enumerate(seats)
    )


def _environment(seat: Seat) -> dict[str, str]:
    if not seat.devices:
        return {}
    return {
        "STOWPLAN_GPU_IDS": ",".join(seat.devices),
        "STOWPLAN_GPU_COUNT": str(len(seat.devices)),
    }


def shape_of(ask: Ask, seats: Sequence[Seat]) -> ChosenShape:
    """Return the shape, and why so, in words."""
    hosts = len({seat.host.name for seat in seats})
    machines = f"{hosts} machine{'s' if hosts > 1 else ''}"
    if ask.array:
        each = f"{ask.gpus} GPUs" if ask.gpus else "1 worker"
        text = f"{len(seats)} elements x {each} on {machines}"
        return ChosenShape(tasks=1, gpus_each=ask.gpus, why=text)
    each = f"{ask.gpus} GPUs" if ask.gpus else "1 worker"
    if not ask.gpus and len(seats) != hosts:
        each = f"{len(seats)} workers in all"
    return ChosenShape(tasks=len(seats), gpus_each=ask.gpus, why=f"{machines} x {each}")


def value_of(ask: Ask) -> Value | None:
    """Return what the profile optimises: 0 for machines already paid for; a finish isn't known."""
    zero, band = Decimal(0), Decimal("0.02")
    match ask.profile:
        case "balanced":
            return Value(measure="usd_per_hour", chosen=zero, reference=zero, band=band)
        case "cost":
            return Value(measure="cost_usd", chosen=zero, reference=zero, band=band)
        case "speed":
            return None


def asked_and_got(ask: Ask, seats: Sequence[Seat]) -> tuple[Got, ...]:
    """Return each of the run's own rules that it set, with what it got."""
    return tuple(Got(rule=rule, asked=asked, got=got) for rule, asked, got in _got(ask, seats))


def _got(ask: Ask, seats: Sequence[Seat]) -> Iterator[tuple[str, str, str]]:
    devices = [
        device
        for seat in seats
        for device in seat.host.machine.devices
        if device.id in seat.devices
    ]
    models = ", ".join(sorted({device.model for device in devices}))
    if ask.models:
        yield "models", " or ".join(ask.models), models
    if ask.vendor:
        yield "vendor", ask.vendor, ", ".join(sorted({str(device.vendor) for device in devices}))
    if ask.min_memory_gb is not None:
        least = min((device.memory_mib for device in devices), default=0) * 2**20 / 1e9
        yield "min_memory_gb", f"{ask.min_memory_gb:g} GB", f"{least:.1f} GB"
    if ask.healthy_only:
        unknown = sum(device.health == "unknown" for device in devices)
        rest = f", {unknown} of unknown health (no sign of failing)" if unknown else ""
        yield "healthy_only", "no GPU at risk", f"{len(devices) - unknown} healthy{rest}"
    if ask.ids:
        yield (
            "pinned_ids",
            ", ".join(sorted(ask.ids)),
            ", ".join(sorted(device.id for device in devices)),
        )
    hosts = ", ".join(sorted({seat.host.name for seat in seats}))
    if ask.names:
        yield "names", ", ".join(sorted(ask.names)), hosts
    if ask.match_labels:
        yield "match_labels", ", ".join(f"{key}={value}" for key, value in ask.match_labels), hosts
    if ask.needs:
        yield "capabilities", ", ".join(sorted(ask.needs)), hosts
    if ask.drives:
        where = sum(seat.host.drives[name].here for seat in seats for name, _ in ask.drives)
        got = "on the machine" if where else "reachable"
        yield "drives", ", ".join(name for name, _ in ask.drives), got


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
        """Return whole alternatives that fit with the rest fixed, best first."""
        ask, situation = self.each.ask, self.situation
        own = {seat.host.name for seat in seats}
        if len(seats) == 1 or ask.array:
            names = [each.host.name for each in self.willing if each.host.name not in own]
            return tuple(names[:MOST_FALLBACKS])
        freed = {
            seat.host.name: given_back(situation.left[seat.host.name], ask, seat) for seat in seats
        }
        scored = sorted(
            (-self._worth(host, own), host.name)
            for host in situation.eligibility.listed(ask)
            if situation.eligibility.admits(
                ask, host, freed.get(host.name, situation.left[host.name])
            )
        )
        # The best sets differ in their last members only: each further one costs a better set.
        sure = max(0, len(own) - MOST_FALLBACKS - 1)
        first, rest = scored[:sure], scored[sure : len(own) + 4]
        chosen = heapq.nsmallest(
            MOST_FALLBACKS + 1,
            itertools.combinations(rest, len(own) - sure),
            key=lambda each: (sum(worth for worth, _ in each), each),
        )
        found = [sorted(name for _, name in (*first, *each)) for each in chosen]
        whole = [each for each in found if set(each) != own and not ask.may_share]
        return tuple("+".join(each) for each in whole[:MOST_FALLBACKS])

    def _worth(self, host: Host, own: set[str]) -> int:
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
        as_good = f"as good ({there:g} points)" if value == earned else f"{text}, as good for all"
        text = f"{as_good}; the tie fell by name"
    stage = "points" if better else "canonical"
    return Reason.of(Code.OUTRANKED, text, stage=stage, value=there, reference=here)
