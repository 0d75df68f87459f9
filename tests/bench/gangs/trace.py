"""A day of the Philly trace, as busy as a fleet can bear: its busiest days laid over each other.

The trace's cluster was smaller than the fleet, and no day of it fills one. So the days with most
jobs are laid over each other, each job at its time of day, until they ask for as much as is
wanted; of all these jobs so many are left out, drawn by the seed, that it comes out even. Every day
before was the same: what is still running at midnight of jobs that are longer runs at the start.
So over the day just as many GPUs are asked for as jobs take while they run.
"""

from __future__ import annotations

import csv
import datetime as dt
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).parents[3] / "../shared/data/philly/philly.csv"
DAY_S = 86400


@dataclass(frozen=True)
class Job:
    """A job: when on its day it comes, how long it runs, on how many GPUs."""

    name: str
    arrives_s: int
    seconds: int
    gpus: int


@dataclass(frozen=True)
class Day:
    """What a day brings."""

    running: tuple[Job, ...]
    """What runs at its start, each for what is left of it."""
    arriving: tuple[Job, ...]
    """In the order in which they come."""
    days: int
    """How many days of the trace are laid over each other."""

    @property
    def gpu_seconds(self) -> int:
        """Return what all that arrives takes; a day of this length asks for as much."""
        return sum(job.gpus * job.seconds for job in self.arriving)


def by_day(file: Path, times: int = 1) -> dict[dt.date, list[Job]]:
    """Return the trace's jobs by the day of their submission, with so many times their GPUs."""
    days: dict[dt.date, list[Job]] = defaultdict(list)
    with file.open() as stream:
        for number, row in enumerate(csv.DictReader(stream)):
            at = dt.datetime.fromisoformat(row["timestamp"])
            second = at.hour * 3600 + at.minute * 60 + at.second
            seconds = max(1, round(float(row["duration"])))
            days[at.date()].append(
                Job(f"job-{number:05}", second, seconds, times * int(float(row["num_gpus"])))
            )
    return days


def laid_over(days: Iterable[list[Job]], gpus: float, seed: int) -> Day:
    """Return the day on which jobs ask for so many GPUs on average."""
    draw, jobs, wanted, many = random.Random(seed), list[Job](), gpus * DAY_S, 0
    asked = 0
    for day in sorted(days, key=len, reverse=True):
        if asked >= wanted:
            break
        jobs += day
        asked += sum(job.gpus * job.seconds for job in day)
        many += 1
    draw.shuffle(jobs)
    kept: list[Job] = []
    taken = 0
    for job in jobs:
        if taken + job.gpus * job.seconds <= wanted:
            kept.append(job)
            taken += job.gpus * job.seconds
    running = tuple(left for job in kept for left in _left_over(job))
    return Day(running, tuple(sorted(kept, key=lambda job: (job.arrives_s, job.name))), many)


def _left_over(job: Job) -> Iterator[Job]:
    """Yield what of the same job on earlier days runs at midnight."""
    left, before = job.arrives_s + job.seconds - DAY_S, 1
    while left > 0:
        yield Job(f"{job.name}.{before}", 0, left, job.gpus)
        left, before = left - DAY_S, before + 1
