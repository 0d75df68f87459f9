"""A day on a fleet, minute by minute: a snapshot a cycle, and what one way makes of it.

Runs come as the trace says and end when they have run as long as it says, whoever placed them. What
isn't placed waits for the next cycle. GPUs of a machine are alike, so the lowest free are taken.
"""

from __future__ import annotations

import datetime as dt
import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from stowplan.model.fleet import Fleet
from stowplan.model.policy import Policy
from stowplan.model.runs import Placed as Kept
from stowplan.model.runs import PlacedWorker, Run
from stowplan.model.snapshot import Snapshot
from tests.bench.gangs.ground import ONE_MACHINE
from tests.bench.gangs.runs import Answer, Placed
from tests.bench.gangs.trace import Day, Job

START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
CYCLE_S = 60
WHOLE = 8
"""GPUs of the largest machines."""

POLICY = Policy(ageing_s=8 * CYCLE_S)
"""A run weighs an eighth more with each cycle that it waits."""

type Schedule = Callable[[Snapshot], Answer]


@dataclass(frozen=True)
class Waited:
    """How long a run has waited, and what it got: no rung, where it still waits."""

    gpus: int
    seconds: int
    rung: int | None


@dataclass(frozen=True)
class Cycle:
    """One cycle: how long it took to decide, and how the fleet is used after it."""

    at_s: int
    waiting: int
    """Runs, before the decision."""
    seconds: float
    in_use: float
    """Of the GPUs (GAR)."""
    fragmented: float
    """Of the machines: those partly in use (GFR)."""
    unusable: float
    """Of the free GPUs, those on machines that have fewer than a run asks of one machine.

    The mean over what is asked for, GPU by GPU.
    """


@dataclass
class Course:
    """What a day comes to."""

    cycles: list[Cycle] = field(default_factory=list)
    waited: list[Waited] = field(default_factory=list)
    """All that came within it."""


class Floor:
    """The fleet as it is used."""

    def __init__(self, fleet: Fleet) -> None:
        """Begin with nothing in use."""
        self._devices = {
            machine.name: [device.id for device in machine.devices] for machine in fleet.machines
        }
        self._free = {name: list(devices) for name, devices in self._devices.items()}
        self._ends: dict[str, int] = {}
        self.runs: dict[str, Run] = {}
        """Those that run, as a snapshot has them."""

    def start(self, run: Run, placed: Placed, ends_s: int) -> None:
        """Start a run: it takes the lowest free GPUs of its machines."""
        each = run.gpus.count // len(placed.hosts)
        workers = []
        for host in placed.hosts:
            free = self._free[host]
            assert len(free) >= each, f"{run.name}: {host} has {len(free)} of {each} GPUs"
            workers.append(PlacedWorker(host=host, devices=tuple(free[:each])))
            del free[:each]
        kept = Kept(workers=tuple(workers))
        self.runs[run.name] = run.model_copy(update={"state": "running", "placed": kept})
        self._ends[run.name] = ends_s

    def end(self, now_s: int) -> None:
        """End what has run long enough."""
        for name in [name for name, ends in self._ends.items() if ends <= now_s]:
            del self._ends[name]
            placed = self.runs.pop(name).placed
            for worker in placed.workers if placed else ():
                self._free[worker.host] = sorted([*self._free[worker.host], *worker.devices])

    def figures(self, asked: Mapping[int, float]) -> tuple[float, float, float]:
        """Return what is in use, fragmented, and unusable for runs asked for with such shares."""
        sizes = [(len(self._devices[name]), len(free)) for name, free in self._free.items()]
        gpus, free = sum(all_ for all_, _ in sizes), sum(left for _, left in sizes)
        partly = sum(0 < left < all_ for all_, left in sizes)
        unusable = sum(
            share * sum(left for _, left in sizes if left < least) for least, share in asked.items()
        )
        return 1 - free / gpus, partly / len(sizes), unusable / max(1, free)


def through(
    day: Day, fleet: Fleet, schedule: Schedule, first: Schedule, cycles: int, seed: int
) -> Iterator[tuple[Cycle, Course]]:
    """Yield each cycle, and the course of the day so far; the last one has all that waited.

    What runs at the start is placed by `first`, whoever goes on.
    """
    floor, course = Floor(fleet), Course()
    jobs = {job.name: job for job in (*day.running, *day.arriving)}
    waiting = {job.name: _run(job, seed) for job in day.running}
    asked = _shares(day)
    before = Snapshot(now=START, fleet=fleet, runs=tuple(waiting.values()))
    for name, placed in first(before).items():
        floor.start(waiting.pop(name), placed, jobs[name].seconds)
    coming = iter(day.arriving)
    next_ = next(coming, None)
    for number in range(cycles):
        now_s = number * CYCLE_S
        floor.end(now_s)
        while next_ is not None and next_.arrives_s <= now_s:
            waiting[next_.name] = _run(next_, seed)
            next_ = next(coming, None)
        many, seconds = len(waiting), 0.0
        if waiting:
            now = START + dt.timedelta(seconds=now_s)
            runs = (*floor.runs.values(), *waiting.values())
            snapshot = Snapshot(now=now, fleet=fleet, runs=runs, policy=POLICY)
            began = time.perf_counter()
            answer = schedule(snapshot)
            seconds = time.perf_counter() - began
            for name, placed in answer.items():
                job = jobs[name]
                floor.start(waiting.pop(name), placed, now_s + job.seconds)
                rung = placed.rung or ONE_MACHINE
                course.waited.append(Waited(job.gpus, now_s - job.arrives_s, rung))
        course.cycles.append(Cycle(now_s, many, seconds, *floor.figures(asked)))
        if number == cycles - 1:
            left = [jobs[name] for name in waiting]
            course.waited += [Waited(job.gpus, now_s - job.arrives_s, None) for job in left]
        yield course.cycles[-1], course


def _shares(day: Day) -> dict[int, float]:
    """Return the GPUs that runs need on one machine, each with its share of all GPUs asked for."""
    total = sum(job.gpus for job in day.arriving)
    shares: dict[int, float] = {}
    for job in day.arriving:
        least = min(job.gpus, WHOLE)
        shares[least] = shares.get(least, 0) + job.gpus / total
    return shares


def _run(job: Job, seed: int) -> Run:
    """Return the run of a job: on one machine for one GPU; else cut as it comes out nearest.

    Of those larger than a machine, part ask for whole machines, one fabric, or InfiniBand.
    """
    asked: dict[str, object] = {"gpus": {"count": job.gpus}}
    if job.gpus == 1:
        asked["machines"] = 1
    elif job.gpus > WHOLE:
        draw = random.Random(f"{seed} {job.name}")
        least = WHOLE if job.gpus % WHOLE == 0 else WHOLE // 2
        rules: list[dict[str, object]] = [
            {},
            {"gpus": {"count": job.gpus, "min_per_machine": least}},
            {"topology": {"keep_within": "fabric"}},
            {"network": {"interconnect": "infiniband"}},
        ]
        asked |= draw.choices(rules, [4, 3, 2, 1])[0]
    at = START + dt.timedelta(seconds=job.arrives_s)
    return Run.model_validate({"name": job.name, "submitted_at": at, **asked})
