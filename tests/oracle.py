"""The third witness: the best a cycle can do, by trying every load of every machine.

A *load* says how many workers of each run a machine takes. Whether a load fits, how many at-risk
GPUs it needs and what points it earns depend on that machine alone, so all there is to a cycle is
which loads add up to what is placed. Loads are listed one by one and added up machine by machine;
there is no bound and no heuristic, only this: a smaller load fits wherever a larger one does.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from stowplan.model.decision import Decision, Worker
from stowplan.model.fleet import Machine
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.witness.asked import (
    cores_each,
    gpus_each,
    gpus_held,
    is_waiting,
    is_within_quota,
    may_share,
    may_start,
    memory_each,
    placed_workers,
    run_named,
    weight_each,
)
from tests.witness.claims import lies
from tests.witness.fits import (
    ahead,
    could_ever_start,
    fits_alone,
    fits_beside,
    refusals,
    slots,
    workers_of,
    would_take,
)
from tests.witness.ladder import domain_rooms
from tests.witness.machines import machine_named, rooms, usable
from tests.witness.points import points, points_each

__all__ = [
    "TooLarge",
    "at_risk_of",
    "best",
    "could_ever_start",
    "fewest_at_risk",
    "fits_alone",
    "fits_beside",
    "lies",
    "most_points",
    "placed",
    "points_of",
    "weight",
    "would_take",
]

type Load = tuple[int, ...]
"""How many workers of each run: on one machine, or in sum over several."""

type Score = tuple[int, int, int]
"""At-risk GPUs not taken and room not left (so: less than 0), then points; the greater the better.

The rungs and machines of what is placed are the same wherever it is: no gang is on several groups.
"""

LIMIT = 2_000_000
"""The most loads and sums of loads that are looked at before the oracle gives up, loudly."""


class TooLarge(RuntimeError):
    """There are too many ways to try them all."""


def best(snapshot: Snapshot) -> tuple[int, ...]:
    """The greatest weight that can be placed: one sum a priority tier, the highest tier first."""
    loads = Loads(snapshot, [run for run in snapshot.runs if _can_start(snapshot, run)])
    sizes = [workers_of(snapshot, run) for run in loads.runs]
    most = tuple(
        loads.capacity(index, size * may_start(snapshot, run)) // size * size
        for index, (run, size) in enumerate(zip(loads.runs, sizes, strict=True))
    )
    placeable = np.array(loads.fullest_sums(most))
    held = {run.workspace: gpus_held(snapshot, run.workspace) for run in loads.runs}
    earlier = [{other.name for other in ahead(snapshot, run)} for run in loads.runs]
    is_strict = snapshot.policy.queue == "strict"

    def is_lawful(choice: Load) -> bool:
        asked = dict.fromkeys(held, 0)
        started = {run.name for run, count in zip(loads.runs, choice, strict=True) if count}
        for run, count, names in zip(loads.runs, choice, earlier, strict=True):
            asked[run.workspace] += count * gpus_each(run)
            if is_strict and count and not names <= started:
                return False
        return all(
            is_within_quota(snapshot, run, asked[run.workspace], held[run.workspace])
            for run in loads.runs
        )

    choices = itertools.product(
        *(range(0, high + 1, size) for high, size in zip(most, sizes, strict=True))
    )
    return max(
        _worth(snapshot, {run.name: count for run, count in zip(loads.runs, choice, strict=True)})
        for choice in loads.counted(choices)
        if is_lawful(choice) and (placeable >= choice).all(axis=1).any()
    )


def weight(snapshot: Snapshot, decision: Decision) -> tuple[int, ...]:
    """The weight that a decision places, in the units and tiers of `best`."""
    placed = placed_workers(decision)
    return _worth(snapshot, {name: len(workers) for name, workers in placed.items()})


def fewest_at_risk(snapshot: Snapshot, placed: Mapping[str, int]) -> int:
    """The fewest at-risk GPUs given out where just these runs are placed: run -> elements, or 1.

    Raises ValueError where they can't all be placed.
    """
    loads, target = _just(snapshot, placed)
    sums: dict[int, list[Load]] = {0: [(0,) * len(target)]}
    for machine in snapshot.fleet.machines:
        by_risk = loads.fullest_by_risk(machine, target)
        after: dict[int, list[Load]] = {}
        for risk, more in itertools.product(sums, by_risk):
            found = loads.sums(sums[risk], by_risk[more], target)
            after.setdefault(risk + more, []).extend(found)
        sums = {risk: _outermost(found) for risk, found in after.items()}
    enough = [risk for risk, totals in sums.items() if target in totals]
    if not enough:
        raise ValueError("these runs can't all be placed")
    return min(enough)


def most_points(snapshot: Snapshot, placed: Mapping[str, int], at_risk: int) -> int:
    """The most points, in thousandths, where just these runs are placed with so few at-risk GPUs.

    Of all ways that leave the least room in NVLink domains.

    Raises ValueError where they can't be, or with fewer.
    """
    loads, target = _just(snapshot, placed)
    sums: dict[Load, Score] = {(0,) * len(target): (0, 0, 0)}
    for machine in snapshot.fleet.machines:
        after: dict[Load, Score] = {}
        pairs = itertools.product(sums.items(), loads.scored(machine, target).items())
        for (total, one), (load, other) in loads.counted(pairs):
            both = tuple(map(sum, zip(total, load, strict=True)))
            if _is_inside(both, target):
                value = (one[0] + other[0], one[1] + other[1], one[2] + other[2])
                after[both] = max(after.get(both, value), value)
        sums = after
    if target not in sums or -sums[target][0] != at_risk:
        raise ValueError(f"these runs can't be placed with {at_risk} at-risk GPUs, or with fewer")
    return sums[target][2]


def placed(decision: Decision) -> dict[str, int]:
    """What a decision places, as the questions here are asked: run -> elements, or 1."""
    return {
        run: sum(worker.element is not None for worker in workers) or 1
        for run, workers in placed_workers(decision).items()
    }


def at_risk_of(snapshot: Snapshot, decision: Decision) -> int:
    """The at-risk GPUs that a decision gives out."""
    workers = itertools.chain(*placed_workers(decision).values())
    return sum(_risks(snapshot, worker) for worker in workers)


def points_of(snapshot: Snapshot, decision: Decision) -> dict[str, int]:
    """The points of each run that a decision places, in thousandths, over all its workers."""
    given, free = placed_workers(decision), rooms(snapshot)
    totals = dict.fromkeys(given, 0)
    for machine in snapshot.fleet.machines:
        there = [
            (run_named(snapshot, name), sum(worker.host == machine.name for worker in workers))
            for name, workers in given.items()
        ]
        for run, count in there:
            for _ in range(count):
                totals[run.name] += points_each(snapshot, machine, free[machine.name], there, run)
    for name, workers in given.items():
        totals[name] -= 60_000 * sum(_risks(snapshot, worker) for worker in workers)
    return totals


def _risks(snapshot: Snapshot, worker: Worker) -> int:
    return sum(
        device.health == "at_risk" and device.id in worker.devices
        for device in machine_named(snapshot, worker.host).devices
    )


def _can_start(snapshot: Snapshot, run: Run) -> bool:
    return (
        may_start(snapshot, run) > 0
        and not refusals(snapshot, run)
        and workers_of(snapshot, run) > 0
    )


def _worth(snapshot: Snapshot, workers: Mapping[str, int]) -> tuple[int, ...]:
    waiting = [run for run in snapshot.runs if is_waiting(snapshot, run)]
    tiers = dict.fromkeys(sorted((run.priority for run in waiting), reverse=True), 0)
    for run in waiting:
        units = workers.get(run.name, 0) * max(1, gpus_each(run))
        tiers[run.priority] += units * weight_each(snapshot, run)
    return tuple(tiers.values())


def _just(snapshot: Snapshot, placed: Mapping[str, int]) -> tuple[Loads, Load]:
    runs = [run_named(snapshot, name) for name, count in placed.items() if count]
    return Loads(snapshot, runs), tuple(
        placed[run.name] * workers_of(snapshot, run) for run in runs
    )


class Loads:
    """The loads that the machines of a snapshot can take, of some of its runs."""

    def __init__(self, snapshot: Snapshot, runs: Iterable[Run]) -> None:
        self.snapshot, self.runs, self.rooms = snapshot, tuple(runs), rooms(snapshot)
        self.looked_at, self.domains = 0, domain_rooms(snapshot)
        self.asks = [
            (cores_each(run, gpus_each(run)), memory_each(run, gpus_each(run)), gpus_each(run))
            for run in self.runs
        ]
        self.takes: dict[str, Load] = {}
        """How many workers of each run a machine takes with no other run beside it."""
        self.gpus: dict[str, list[frozenset[str]]] = {}
        """The free GPUs of a machine that would do, for each run."""
        self.risky: dict[str, frozenset[str]] = {}
        for machine in snapshot.fleet.machines:
            room = self.rooms[machine.name]
            takes = [slots(snapshot, machine, run, self.rooms) for run in self.runs]
            self.takes[machine.name] = tuple(
                count if may_share(run) else min(1, count)
                for run, count in zip(self.runs, takes, strict=True)
            )
            self.gpus[machine.name] = [usable(machine, run, room) for run in self.runs]
            self.risky[machine.name] = frozenset(
                device.id for device in machine.devices if device.health == "at_risk"
            )

    def counted[T](self, ways: Iterable[T]) -> Iterator[T]:
        """Yield the ways. Raises TooLarge where all together they are too many."""
        for way in ways:
            self.looked_at += 1
            if self.looked_at > LIMIT:
                raise TooLarge(f"more than {LIMIT:,} ways")
            yield way

    def capacity(self, index: int, enough: int) -> int:
        """How many workers of one run the fleet takes, if no other run is placed."""
        return min(enough, sum(takes[index] for takes in self.takes.values()))

    def fits(self, machine: Machine, load: Load) -> bool:
        room = self.rooms[machine.name]
        cores = sum(count * ask[0] for count, ask in zip(load, self.asks, strict=True))
        memory = sum(count * ask[1] for count, ask in zip(load, self.asks, strict=True))
        return (
            _is_inside(load, self.takes[machine.name])
            and (cores == 0 or cores <= room.cores)
            and (memory == 0 or memory <= room.memory)
            and self._short(machine, load, frozenset()) == 0
        )

    def at_risk(self, machine: Machine, load: Load) -> int:
        """The fewest at-risk GPUs with which a load that fits is served.

        As many as the others fall short: a set of GPUs that serves some workers can always be
        made larger until it serves all.
        """
        return self._short(machine, load, self.risky[machine.name])

    def _short(self, machine: Machine, load: Load, without: frozenset[str]) -> int:
        """By how many GPUs the machine falls short of a load.

        Hall's theorem: by as many as the worst group of runs asks for beyond all the GPUs that
        would do for any of them.
        """
        asking = [index for index, count in enumerate(load) if count and self.asks[index][2]]
        worst = 0
        for size in range(1, len(asking) + 1):
            for group in itertools.combinations(asking, size):
                asked = sum(load[index] * self.asks[index][2] for index in group)
                would_do = frozenset().union(*(self.gpus[machine.name][i] for i in group))
                worst = max(worst, asked - len(would_do - without))
        return worst

    def points(self, machine: Machine, load: Load) -> int:
        """The points that the workers of a load earn, with the fewest at-risk GPUs."""
        there = [(run, count) for run, count in zip(self.runs, load, strict=True) if count]
        earned = points(self.snapshot, machine, self.rooms[machine.name], there)
        return earned - 60_000 * self.at_risk(machine, load)

    def room(self, machine: Machine, load: Load) -> int:
        """What workers, each by itself, leave of the NVLink domain that the machine is in."""
        if machine.name not in self.domains:
            return 0
        free = self.domains[machine.name]
        return sum(
            count * (free - gpus)
            for count, (*_, gpus), run in zip(load, self.asks, self.runs, strict=True)
            if workers_of(self.snapshot, run) == 1
        )

    def scored(self, machine: Machine, most: Load) -> dict[Load, Score]:
        return {
            load: (
                -self.at_risk(machine, load),
                -self.room(machine, load),
                self.points(machine, load),
            )
            for load in self.all(machine, most)
        }

    def all(self, machine: Machine, most: Load) -> Iterator[Load]:
        """Yield every load that fits with no run's count above `most`, the empty one too."""

        def extended(load: Load) -> Iterator[Load]:
            if len(load) == len(most):
                yield load
                return
            rest = (0,) * (len(most) - len(load) - 1)
            for count in range(most[len(load)] + 1):
                if not self.fits(machine, (*load, count, *rest)):
                    return
                yield from extended((*load, count))

        return self.counted(extended(()))

    def fullest(self, machine: Machine, most: Load) -> list[Load]:
        """The loads that fit and are inside no other that does."""

        def extended(load: Load) -> Iterator[Load]:
            if self.fits(machine, full := (*load, *most[len(load) :])):
                yield full  # all others from here are inside it
                return
            rest = (0,) * (len(most) - len(load) - 1)
            for count in range(most[len(load)], -1, -1):
                if self.fits(machine, (*load, count, *rest)):
                    yield from extended((*load, count))

        most = tuple(map(min, most, self.takes[machine.name]))
        return _outermost(self.counted(extended(())))

    def fullest_by_risk(self, machine: Machine, most: Load) -> dict[int, list[Load]]:
        """The fullest loads with so many at-risk GPUs, for every number that makes sense."""
        if not self.risky[machine.name]:
            return {0: self.fullest(machine, most)}
        found: dict[int, list[Load]] = {}
        for load in self.all(machine, most):
            found.setdefault(self.at_risk(machine, load), []).append(load)
        return {risk: _outermost(loads) for risk, loads in found.items()}

    def fullest_sums(self, most: Load) -> list[Load]:
        """What all machines together take, up to `most`: the sums that are inside no other."""
        sums: list[Load] = [(0,) * len(most)]
        for machine in self.snapshot.fleet.machines:
            sums = _outermost(self.sums(sums, self.fullest(machine, most), most))
        return sums

    def sums(self, some: Iterable[Load], others: Iterable[Load], most: Load) -> Iterator[Load]:
        """Yield the sums of any two, with what is above `most` left out."""
        for pair in self.counted(itertools.product(some, others)):
            yield tuple(map(min, map(sum, zip(*pair, strict=True)), most))


def _is_inside(load: Load, other: Load) -> bool:
    return all(map(int.__le__, load, other))


def _outermost(loads: Iterable[Load]) -> list[Load]:
    """Those that are inside no other."""
    largest_first = sorted(set(loads), key=sum, reverse=True)
    found = np.array(largest_first)
    kept = 0
    for load in largest_first:
        if not (found[:kept] >= load).all(axis=1).any():
            found[kept] = load
            kept += 1
    return [tuple(load) for load in found[:kept].tolist()]
