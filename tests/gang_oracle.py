"""The third witness of gangs: the best a cycle can do, by trying every way to place every run.

For machines that are owned, and for runs that are no arrays. The ways of one run come from
`tests.witness.gangs`; what several runs together take of a machine is worked out here, once for
each load. A branch ends where even the least that the runs to come add is no better than the best
found; nothing else is left out.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from stowplan.model.decision import Decision, PlacedRun
from stowplan.model.fleet import Machine
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.witness.asked import (
    cores_each,
    gpus_held,
    is_waiting,
    is_within_quota,
    memory_each,
    run_named,
    weight_each,
)
from tests.witness.gangs import Ground, Way
from tests.witness.ladder import room_left, rung_of
from tests.witness.machines import machine_named, rooms, usable
from tests.witness.points import points
from tests.witness.shapes import codes_of_refusal, worker_of

LIMIT = 1_000_000
"""The most steps that are looked at before the oracle gives up, loudly."""

RISK = 60_000
"""What an at-risk GPU costs, in thousandths of a point."""

type Load = tuple[tuple[int, int, int], ...]
"""What a machine takes: the number of a run, the GPUs of each of its workers, how many of them."""


class TooLarge(RuntimeError):
    """There are too many ways to try them all."""


class Figures(NamedTuple):
    """What a cycle comes to, in the order of its stages."""

    weight: tuple[int, ...]
    """One sum a priority tier, the highest tier first."""
    at_risk: int
    rungs: int
    workers: int
    room: int
    points: int
    """In thousandths; the most, where all before is equal."""


class Cost(NamedTuple):
    """What is to be least, the first first."""

    at_risk: int
    rungs: int
    workers: int
    room: int
    no_points: int


def best(snapshot: Snapshot) -> Figures:
    """The best that a cycle can come to."""
    return _Search(snapshot).best()


def best_of(snapshot: Snapshot, placed: set[str]) -> Figures:
    """The best that a cycle can come to where just these runs are placed.

    Raises ValueError where they can't all be placed.
    """
    return _Search(snapshot).best_of(placed)


def figures(snapshot: Snapshot, decision: Decision) -> Figures:
    """What a decision comes to."""
    ground = Ground(snapshot)
    placed = [each for each in decision.outcomes if isinstance(each, PlacedRun)]
    runs = {each.run: run_named(snapshot, each.run) for each in placed}
    hosts = {each.run: [worker.host for worker in each.workers] for each in placed}
    at_risk = earned = 0
    for machine in snapshot.fleet.machines:
        there = [
            (worker_of(runs[each.run], len(worker.devices)), 1)
            for each in placed
            for worker in each.workers
            if worker.host == machine.name
        ]
        earned += points(snapshot, machine, ground.start[machine.name], there)
        risky = {device.id for device in machine.devices if device.health == "at_risk"}
        given = [w for each in placed for w in each.workers if w.host == machine.name]
        at_risk += sum(len(risky & set(worker.devices)) for worker in given)
    return Figures(
        weight=weight(snapshot, set(runs)),
        at_risk=at_risk,
        rungs=sum(rung_of(ground.spots(runs[name], each)) or 9 for name, each in hosts.items()),
        workers=sum(map(len, hosts.values())),
        room=sum(
            room_left(ground.seen(runs[name]), ground.free, runs[name], each)
            for name, each in hosts.items()
        ),
        points=earned - RISK * at_risk,
    )


def weight(snapshot: Snapshot, placed: set[str]) -> tuple[int, ...]:
    """The weight of these runs: one sum a priority tier in which any run waits."""
    waiting = [run for run in snapshot.runs if is_waiting(snapshot, run)]
    tiers = dict.fromkeys(sorted((run.priority for run in waiting), reverse=True), 0)
    for run in waiting:
        if run.name in placed:
            tiers[run.priority] += _units(run) * weight_each(snapshot, run)
    return tuple(tiers.values())


def could_ever_start(snapshot: Snapshot, run: Run) -> bool:
    """Whether the run could start alone on the fleet with nothing on it."""
    ground = Ground(snapshot)
    return (
        not codes_of_refusal(snapshot, run)
        and is_within_quota(snapshot, run, run.gpus.count, 0)
        and any(True for _ in ground.ways(run, ground.empty))
    )


def fits_beside(snapshot: Snapshot, decision: Decision, name: str) -> bool:
    """Whether the run fits beside all that the decision placed, queues aside."""
    run, ground = run_named(snapshot, name), Ground(snapshot)
    held = gpus_held(snapshot, run.workspace, decision)
    return (
        not codes_of_refusal(snapshot, run)
        and is_within_quota(snapshot, run, run.gpus.count, held)
        and bool(ground.lawful(run, rooms(snapshot, decision)))
    )


def _units(run: Run) -> int:
    """How many GPUs it has, or else workers: those are as many however it is cut."""
    if run.gpus.count:
        return run.gpus.count
    chosen = run.node_selection
    named = len(chosen.names) if chosen.mode == "exact" else 0
    return run.machines or chosen.count or named or 1


class _Search:
    """All ways to place the runs of a snapshot together."""

    def __init__(self, snapshot: Snapshot) -> None:
        if any(run.array or run.node_selection.mode == "all" for run in snapshot.runs):
            raise NotImplementedError("arrays, and mode `all`")
        self.snapshot, self.ground = snapshot, Ground(snapshot)
        self.machines = snapshot.fleet.machines
        self.steps = 0
        self.runs: list[Run] = []
        self.ways: list[list[Way]] = []
        for run in snapshot.runs:
            if not is_waiting(snapshot, run) or codes_of_refusal(snapshot, run):
                continue
            if found := self.ground.lawful(run, self.ground.start):
                self.runs.append(run)
                self.ways.append(sorted(found, key=lambda way: (way.rung, way.room)))
        self.counts = [[tuple(Counter(way.hosts).items()) for way in ways] for ways in self.ways]
        self.kinds = [run.model_copy(update={"name": ""}).model_dump_json() for run in self.runs]
        self.known: dict[tuple[str, Load], tuple[int, int] | None] = {}
        self.least: Cost | None = None

    def best(self) -> Figures:
        names = [run.name for run in self.runs]
        choices = [
            chosen
            for size in range(len(names) + 1)
            for chosen in itertools.combinations(range(len(names)), size)
            if self._is_lawful(chosen)
        ]
        weights = {each: weight(self.snapshot, {names[i] for i in each}) for each in choices}
        for most in sorted(set(weights.values()), reverse=True):
            for chosen in choices:
                if weights[chosen] == most:
                    self._place(chosen)
            if self.least is not None:
                return self._figures(most, self.least)
        raise AssertionError("placing nothing is always possible")

    def best_of(self, placed: set[str]) -> Figures:
        chosen = [index for index, run in enumerate(self.runs) if run.name in placed]
        if len(chosen) == len(placed) and self._is_lawful(chosen):
            self._place(chosen)
        if self.least is None:
            raise ValueError(f"{sorted(placed)} can't all be placed")
        return self._figures(weight(self.snapshot, placed), self.least)

    @staticmethod
    def _figures(most: tuple[int, ...], least: Cost) -> Figures:
        return Figures(most, *least[:4], -least.no_points)

    def _is_lawful(self, chosen: Sequence[int]) -> bool:
        """Whether quotas and queues let just these runs start."""
        runs = [self.runs[index] for index in chosen]
        asked: Counter[str] = Counter()
        for run in runs:
            asked[run.workspace] += run.gpus.count
        for run in runs:
            held = gpus_held(self.snapshot, run.workspace)
            if not is_within_quota(self.snapshot, run, asked[run.workspace], held):
                return False
        if self.snapshot.policy.queue != "strict":
            return True
        started = {run.name for run in runs}
        return all(started >= set(ahead(self.snapshot, run)) for run in runs)

    def _place(self, chosen: Sequence[int]) -> None:
        """Look for the best way to place just these runs, beside what is best already."""
        order = sorted(chosen, key=lambda index: (len(self.ways[index]), self.kinds[index], index))
        rest = [(0, 0, 0)]
        for index in reversed(order):
            ways = self.ways[index]
            least = (
                min(way.rung for way in ways),
                min(len(way.hosts) for way in ways),
                min(way.room for way in ways),
            )
            rest.append((rest[-1][0] + least[0], rest[-1][1] + least[1], rest[-1][2] + least[2]))
        empty: dict[str, Load] = {machine.name: () for machine in self.machines}
        self._extend(order, rest[::-1], 0, empty, (0, 0, 0), -1)

    def _extend(
        self,
        order: Sequence[int],
        rest: Sequence[tuple[int, int, int]],
        depth: int,
        loads: dict[str, Load],
        sums: tuple[int, int, int],
        before: int,
    ) -> None:
        """Try every way of the next run; of runs alike, none in a way before the last one's."""
        there = [self._taken(name, load) for name, load in loads.items()]
        at_risk = sum(risk for risk, _ in filter(None, there))
        if depth == len(order):
            cost = Cost(at_risk, *sums, -sum(earned for _, earned in filter(None, there)))
            if self.least is None or cost < self.least:
                self.least = cost
            return
        bound = (at_risk, *(a + b for a, b in zip(sums, rest[depth], strict=True)))
        if self.least is not None and bound > self.least[:4]:
            return
        index = order[depth]
        is_alike = depth > 0 and self.kinds[index] == self.kinds[order[depth - 1]]
        for number, way in enumerate(self.ways[index]):
            if is_alike and number < before:
                continue
            self.steps += 1
            if self.steps > LIMIT:
                raise TooLarge(f"more than {LIMIT:,} steps")
            after = dict(loads)
            for host, count in self.counts[index][number]:
                after[host] = (*after[host], (index, way.gpus, count))
                if self._taken(host, after[host]) is None:
                    break
            else:
                more = (sums[0] + way.rung, sums[1] + len(way.hosts), sums[2] + way.room)
                self._extend(order, rest, depth + 1, after, more, number)

    def _taken(self, host: str, load: Load) -> tuple[int, int] | None:
        """The at-risk GPUs and the points of a load, or None where it doesn't fit."""
        key = (host, load)
        if key not in self.known:
            self.known[key] = self._weighed(machine_named(self.snapshot, host), load)
        return self.known[key]

    def _weighed(self, machine: Machine, load: Load) -> tuple[int, int] | None:
        room = self.ground.start[machine.name]
        there = [(worker_of(self.runs[run], gpus), count) for run, gpus, count in load]
        cores = sum(count * cores_each(run, run.gpus.count) for run, count in there)
        memory = sum(count * memory_each(run, run.gpus.count) for run, count in there)
        if (cores and cores > room.cores) or (memory and memory > room.memory):
            return None
        wanted = [
            (count * run.gpus.count, usable(machine, run, room))
            for run, count in there
            if run.gpus.count
        ]
        if _short(wanted, frozenset()):
            return None
        risky = frozenset(each.id for each in machine.devices if each.health == "at_risk")
        at_risk = _short(wanted, risky)
        return at_risk, points(self.snapshot, machine, room, there) - RISK * at_risk


def ahead(snapshot: Snapshot, run: Run) -> Iterator[str]:
    """Yield the earlier runs of its queue that a strict queue lets start before it."""

    def turn(other: Run) -> tuple[int, dt.datetime, str]:
        return (-other.priority, other.submitted_at or snapshot.now, other.name)

    for other in snapshot.runs:
        is_before = other.workspace == run.workspace and turn(other) < turn(run)
        if is_before and is_waiting(snapshot, other) and could_ever_start(snapshot, other):
            yield other.name


def _short(wanted: Sequence[tuple[int, frozenset[str]]], without: frozenset[str]) -> int:
    """By how many GPUs a machine falls short of these asks: so many of those that would do.

    Hall's theorem: by as many as the worst group asks for beyond all that would do for any of it.
    """
    worst = 0
    for size in range(1, len(wanted) + 1):
        for group in itertools.combinations(wanted, size):
            would_do = frozenset[str]().union(*(gpus for _, gpus in group)) - without
            worst = max(worst, sum(count for count, _ in group) - len(would_do))
    return worst
