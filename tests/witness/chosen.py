"""Every untrue word about a placed run: its scores, its fallbacks, the hosts not chosen."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from stowplan.model.decision import Decision, PlacedRun, Worker
from stowplan.model.fleet import Machine
from stowplan.model.reasons import Figure
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.witness.asked import cores_each, gpus_each, may_share, memory_each, placed_workers
from tests.witness.fits import slots
from tests.witness.ladder import Group, domain_rooms, group_of
from tests.witness.machines import Room, checked, rooms, usable
from tests.witness.places import places
from tests.witness.points import points, points_each
from tests.witness.reasons import Said, reasons
from tests.witness.rows import rejected, untrue

MOST_FALLBACKS = 10
RISK = 60_000
"""What an at-risk GPU costs, in thousandths of a point."""


class Worth(NamedTuple):
    """A worker on a host."""

    at_risk: int
    room: int
    """The free GPUs that a single worker leaves in the machine's NVLink domain."""
    own: int
    """Its own points."""
    gain: int
    """What it adds to the points of all workers there."""

    @property
    def rank(self) -> tuple[int, int, int]:
        """The better the less."""
        return (self.at_risk, self.room, -self.own)


class Chosen:
    """Where one run is, beside all hosts where it could be."""

    def __init__(
        self, snapshot: Snapshot, decision: Decision, run: Run, outcome: PlacedRun
    ) -> None:
        self.snapshot, self.run, self.outcome = snapshot, run, outcome
        self.start, self.left = rooms(snapshot), rooms(snapshot, decision)
        is_one = len(outcome.workers) == 1 or run.array
        self.domains = domain_rooms(snapshot) if is_one else {}
        self.there: dict[str, list[Run]] = {machine.name: [] for machine in checked(snapshot, run)}
        by_name = {each.name: each for each in snapshot.runs}
        for name, workers in placed_workers(decision).items():
            for worker in workers:
                self.there.setdefault(worker.host, []).append(by_name[name])
        self.machines = {machine.name: machine for machine in checked(snapshot, run)}
        stages = {each.name: each for each in decision.solver.stages}
        stage = stages.get("points")
        self.is_proven = stage is not None and stage.objective == stage.bound
        self.others = [
            machine
            for name, machine in self.machines.items()
            if name not in {worker.host for worker in outcome.workers}
        ]
        self.rejected = rejected(decision, outcome)
        self.seats = [self._seat(run, worker) for worker in outcome.workers]
        self.peers = list(_peers(decision, outcome))
        self.theirs = [
            self._seat(by_name[each.run], worker) for each in self.peers for worker in each.workers
        ]
        """The places of all runs that share its table."""
        self.group = self._group()
        takers = [each for each in self.others if slots(snapshot, each, run, self.left)]
        self.outside = {
            each.name for each in takers if self.group and each.name not in self.group.hosts
        }
        """Those that could take a worker, and aren't of the group that all of them are on."""
        self.willing = {
            each.name: self._worth(each, self.there[each.name], self.left[each.name])
            for each in takers
            if each.name not in self.outside
        }

    def lies(self) -> Iterator[str]:
        yield from self._scores()
        yield from untrue(self.rejected, self.others, self._of_other)
        yield from self._shared()
        yield from self._fallbacks()
        for name, worth in self.willing.items():
            worst = self._worst()
            if self.is_proven and all(
                worth.at_risk <= seat.at_risk and worth.room <= seat.room and worth.gain > seat.gain
                for seat in worst
            ):
                yield f"would earn more on {name}, and the most points are said to be proven"

    def _group(self) -> Group | None:
        """The machines that a run of several workers is kept to; one of a single worker to none."""
        hosts = {worker.host for worker in self.outcome.workers}
        if len(self.seats) == 1 or self.run.array:
            return None
        if len(hosts) == 1:
            return Group(next(iter(hosts)), frozenset(hosts))
        return group_of(places(self.snapshot, self.run.network.min_gbps), self.run, hosts)

    def _shared(self) -> Iterator[str]:
        """Yield what is wrong with the run whose table it shares."""
        shows = [each.run for each in self.peers if each.same_as is None]
        if shows != [self.outcome.same_as or self.run.name]:
            yield f"is the same as {self.outcome.same_as}, which shows no table of its own"

    def _seat(self, run: Run, worker: Worker) -> Worth:
        """A worker where it is, beside the rest."""
        machine, rest = self.machines[worker.host], list(self.there[worker.host])
        rest.remove(run)
        risk = sum(
            device.health == "at_risk" and device.id in worker.devices for device in machine.devices
        )
        return self._measured(machine, rest, risk)

    def _worth(self, machine: Machine, rest: list[Run], room: Room) -> Worth:
        """One more worker there, with as few at-risk GPUs as can be."""
        risky = {device.id for device in machine.devices if device.health == "at_risk"}
        sound = usable(machine, self.run, room) - risky
        return self._measured(machine, rest, max(0, gpus_each(self.run) - len(sound)))

    def _measured(self, machine: Machine, rest: list[Run], risk: int) -> Worth:
        before, after = ([(run, 1) for run in runs] for runs in (rest, [*rest, self.run]))
        start = self.start[machine.name]
        own = points_each(self.snapshot, machine, start, after, self.run)
        gain = points(self.snapshot, machine, start, after)
        gain -= points(self.snapshot, machine, start, before)
        room = max(0, self.domains.get(machine.name, 0) - gpus_each(self.run))
        return Worth(risk, room, own - RISK * risk, gain - RISK * risk)

    def _worst(self) -> list[Worth]:
        least = min(seat.own for seat in self.seats)
        return [seat for seat in self.seats if seat.own == least]

    def _of_other(self, machine: Machine) -> list[list[Said]]:
        """What may be said of a host that wasn't chosen."""
        if self.group and machine.name in self.outside:
            where: dict[str, Figure] = {"value": self.group.name, "reference": self.outcome.rung}
            return [[Said("OUTRANKED", {"stage": "rung", **where}, ("where all of the run is",))]]
        if machine.name not in self.willing:
            room = self.left[machine.name]
            return [reasons(self.snapshot, machine, self.run, room)]
        worth, most = self.willing[machine.name], max(seat.at_risk for seat in self.seats)
        if worth.at_risk > most:
            risks: dict[str, Figure] = {"value": worth.at_risk, "reference": most}
            return [[Said("OUTRANKED", {"stage": "at_risk", **risks})]]
        reference = max(seat.room for seat in self.theirs)
        if worth.room != reference:
            left: dict[str, Figure] = {"value": worth.room, "reference": reference}
            told = ["free in its NVLink domain"]
            if worth.room < reference:
                told.append("all runs together do better")
            return [[Said("OUTRANKED", {"stage": "room", **left}, tuple(told))]]
        least = min(seat.gain for seat in self.theirs)
        earned: dict[str, Figure] = {
            "value": worth.own / 1000,
            "reference": min(seat.own for seat in self.theirs) / 1000,
        }
        stage = "canonical" if worth.gain == least else "points"
        words: tuple[str, ...] = ()
        if worth.gain > least:
            words = ("the search ended",)
        elif worth.gain == least:
            words = ("as good",)
        elif worth.own >= min(seat.own for seat in self.theirs):
            words = ("all runs together earn more",)
        return [[Said("OUTRANKED", {"stage": stage, **earned}, words)]]

    def _fallbacks(self) -> Iterator[str]:
        told = self.outcome.fallbacks
        if len(self.seats) == 1 or self.run.array:
            ranks = {name: worth.rank for name, worth in self.willing.items()}
        else:
            ranks = self._other_ways()
        if len(set(told)) != len(told) or not ranks.keys() >= set(told):
            yield f"has the fallbacks {told}, and only {sorted(ranks)} would do"
            return
        best = sorted(ranks.values())[:MOST_FALLBACKS]
        if may_share(self.run) and not self.run.array:  # some of many ways: any, in rank order
            best = sorted(ranks[name] for name in told)
        if [ranks[name] for name in told] != best:
            ranked = sorted(ranks, key=lambda name: ranks[name])
            yield f"has the fallbacks {told}, and the best are {ranked[:MOST_FALLBACKS]}"

    def _other_ways(self) -> dict[str, tuple[int, int, int]]:
        """Every other way to place several workers, none of which has GPUs, with its points."""
        own = sorted(worker.host for worker in self.outcome.workers)
        freed, rest = dict(self.left), {name: list(runs) for name, runs in self.there.items()}
        for name in own:
            room = freed[name]
            cores, memory = cores_each(self.run, 0), memory_each(self.run, 0)
            freed[name] = Room(room.cores + cores, room.memory + memory, room.devices)
            rest[name].remove(self.run)
        most = len(own) if may_share(self.run) else 1
        takes = {
            name: min(most, slots(self.snapshot, machine, self.run, freed))
            for name, machine in self.machines.items()
        }
        seats = [name for name in sorted(takes) for _ in range(takes[name])]
        ways = set(itertools.combinations(seats, len(own))) - {tuple(own)}
        return {"+".join(way): (0, 0, -self._points_of(way, rest)) for way in ways}

    def _points_of(self, way: tuple[str, ...], rest: dict[str, list[Run]]) -> int:
        """What the run's workers earn on these hosts."""
        total = 0
        for name in set(way):
            count, machine = way.count(name), self.machines[name]
            there = [(run, 1) for run in rest[name]] + [(self.run, count)]
            start = self.start[name]
            total += count * points_each(self.snapshot, machine, start, there, self.run)
        return total

    def _scores(self) -> Iterator[str]:
        hosts = [self.machines[worker.host] for worker in self.outcome.workers]
        true = {
            "fit": _mean(self._fit(machine) for machine in hosts),
            "health": _mean(_health(machine) for machine in hosts),
            "points": _mean(seat.own / 1000 for seat in self.seats),
            "time_to_result": 1.0,
            "cost_to_complete": 1.0,
            "recovery_value": 1.0,
        }
        for name, value in true.items():
            told = getattr(self.outcome.scores, name)
            if abs(told - value) > 0.001:
                yield f"scores {told} for {name}, not {value}"

    def _fit(self, machine: Machine) -> float:
        whole = len(machine.devices)
        return (whole - len(self.left[machine.name].devices)) / whole if whole else 0.0


def _peers(decision: Decision, outcome: PlacedRun) -> Iterator[PlacedRun]:
    """All runs that share a table with one, itself included."""
    table = outcome.same_as or outcome.run
    for each in decision.outcomes:
        if isinstance(each, PlacedRun) and table in (each.run, each.same_as):
            yield each


def _mean(values: Iterator[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


def _health(machine: Machine) -> float:
    states = [device.health == "healthy" for device in machine.devices]
    return sum(states) / len(states) if states else 1.0
