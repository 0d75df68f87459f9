"""A day of Philly's jobs on openb's machines, in cycles of a minute.

`python -m tests.bench.gangs.philly [--hours H | --cycles N]` goes through it twice: with our
decision each minute, and with a scheduler that goes down the ladder run by run. Both begin with the
same fleet in use, and get the same jobs.
"""

from __future__ import annotations

import argparse
import functools
import math
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import stowplan
from stowplan.model.fleet import Fleet
from stowplan.model.snapshot import Snapshot
from stowplan.solver.settings import Settings
from tests.bench.gangs.day import CYCLE_S, WHOLE, Course, Cycle, Schedule, through
from tests.bench.gangs.ladder import Groups, ladder
from tests.bench.gangs.measure import LADDER, OURS
from tests.bench.gangs.runs import Answer, placed_by
from tests.bench.gangs.standing import fleet
from tests.bench.gangs.trace import FILE, Day, by_day, laid_over
from tests.bench.instances import openb
from tests.bench.money.tables import PAGE, put, table

WAITS = (
    "way",
    "started",
    "waiting",
    "mean wait",
    "p50",
    "p90",
    "p99",
    "most",
    "gangs",
    "mean wait of gangs",
)
USES = (
    "way",
    "s a cycle",
    "worst s",
    "GPUs in use",
    "GFR",
    "unusable",
    "rung, 2 to 8 GPUs",
    "rung, more",
)
OVER_TIME = (
    "hour",
    "waiting",
    "GPUs in use",
    "GFR",
    "unusable",
    "waiting ",
    "GPUs in use ",
    "GFR ",
    "unusable ",
)


def waits(name: str, course: Course) -> tuple[str, ...]:
    """Return how long runs waited, those that still do with their time so far."""
    every = sorted(each.seconds for each in course.waited)
    gangs = [each.seconds for each in course.waited if each.gpus > WHOLE]
    left = sum(each.rung is None for each in course.waited)
    parts = [every[(len(every) - 1) * part // 100] if every else 0 for part in (50, 90, 99, 100)]
    return (
        name,
        f"{len(every) - left:,}",
        str(left),
        _mean(every, ",.0f", " s"),
        *(f"{part:,} s" for part in parts),
        str(len(gangs)),
        _mean(gangs, ",.0f", " s"),
    )


def uses(name: str, course: Course) -> tuple[str, ...]:
    """Return how long cycles took, how the fleet was used, and how near gangs came."""
    decided = [cycle.seconds for cycle in course.cycles if cycle.waiting] or [0.0]
    few, more = (
        [each.rung for each in course.waited if each.rung and least < each.gpus <= most]
        for least, most in ((1, WHOLE), (WHOLE, math.inf))
    )
    return (
        name,
        f"{statistics.median(decided):.2f}",
        f"{max(decided):.2f}",
        *_used(course.cycles),
        _mean(few, ".2f"),
        _mean(more, ".2f"),
    )


def _used(cycles: Sequence[Cycle]) -> tuple[str, ...]:
    figures = ("in_use", "fragmented", "unusable")
    return tuple(_mean([getattr(each, name) for each in cycles], ".1%") for name in figures)


def _mean(values: Sequence[float], form: str, unit: str = "") -> str:
    return f"{statistics.fmean(values):{form}}{unit}" if values else ""


def over_time(courses: Sequence[Course]) -> list[tuple[str, ...]]:
    """Return a row an hour: the means of both ways, side by side."""
    rows = []
    for hour in range(-(-len(courses[0].cycles) * CYCLE_S // 3600)):
        cells = [f"{hour}"]
        for course in courses:
            inside = [each for each in course.cycles if each.at_s // 3600 == hour]
            cells += [_mean([each.waiting for each in inside], ",.0f"), *_used(inside)]
        rows.append(tuple(cells))
    return rows


def told(courses: Mapping[str, Course], told_day: str) -> str:
    """Return the tables: waiting, use, and use over time where there are two ways."""
    parts = [
        told_day,
        table(WAITS, [waits(name, course) for name, course in courses.items()]),
        table(USES, [uses(name, course) for name, course in courses.items()]),
    ]
    if len(courses) > 1:
        parts.append(table(OVER_TIME, over_time(list(courses.values()))))
    return "\n".join(parts)


def schedules(standing: Fleet, time_limit_s: float) -> dict[str, Schedule]:
    """Return both ways."""

    def ours(snapshot: Snapshot) -> Answer:
        return placed_by(stowplan.solve(snapshot, Settings(time_limit_s=time_limit_s)))

    return {OURS: ours, LADDER: functools.partial(ladder, groups=Groups(standing))}


def run_through(
    day: Day, standing: Fleet, ways: Mapping[str, Schedule], cycles: int, seed: int
) -> dict[str, Course]:
    """Return what the day comes to with each way; progress goes to standard error."""
    first = functools.partial(ladder, groups=Groups(standing))
    courses = {}
    for name, schedule in ways.items():
        for cycle, course in through(day, standing, schedule, first, cycles, seed):
            courses[name] = course
            if cycle.at_s % 3600 == 0 or cycle.seconds > CYCLE_S / 6:
                line = f"{name}, {cycle.at_s // 3600:02}:{cycle.at_s // 60 % 60:02}"
                print(
                    f"{line}: {cycle.waiting} waiting, {cycle.seconds:.2f} s, "
                    f"{cycle.in_use:.1%} in use, GFR {cycle.fragmented:.1%}",
                    file=sys.stderr,
                )
    return courses


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.gangs.philly", description=__doc__)
    parser.add_argument("--hours", type=float, default=24, help="of the day, from midnight on")
    parser.add_argument("--cycles", type=int, help="minutes of the day, instead of hours")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--load", type=float, default=0.9, help="GPUs asked for to GPUs there are")
    parser.add_argument("--machines", type=int, help="only so many, drawn by the seed")
    parser.add_argument("--times", type=int, default=1, help="this many times the GPUs of each job")
    parser.add_argument("--ways", default=f"{OURS},{LADDER}", help="one or both")
    parser.add_argument("--time-limit", type=float, default=10, metavar="S", help="of a cycle")
    parser.add_argument("--trace", type=Path, default=FILE, help="Philly's jobs")
    parser.add_argument("--openb", type=Path, default=openb.FOLDER, help="openb's machines")
    parser.add_argument(
        "--markdown", action="store_true", help=f"write the tables into docs/{PAGE.name}"
    )
    asked = parser.parse_args(arguments)
    if not (asked.trace.exists() and asked.openb.exists()):
        print("philly: left out, the traces aren't here (../shared/data)", file=sys.stderr)
        return
    standing = fleet(openb.nodes(asked.openb), asked.seed, asked.machines)
    gpus = sum(len(machine.devices) for machine in standing.machines)
    day = laid_over(by_day(asked.trace, asked.times).values(), asked.load * gpus, asked.seed)
    ways = schedules(standing, asked.time_limit)
    chosen = {name: ways[name] for name in asked.ways.split(",")}
    cycles = asked.cycles or round(asked.hours * 3600 / CYCLE_S)
    line = (
        f"{len(standing.machines):,} machines with {gpus:,} GPUs; {day.days} days of the trace laid"
        f"\nover each other: {len(day.running):,} runs at midnight and {len(day.arriving):,} that "
        f"come; {cycles:,} cycles (seed {asked.seed}).\n"
    )
    tables = told(run_through(day, standing, chosen, cycles, asked.seed), line)
    if asked.markdown:
        put(PAGE, "philly", tables)
    else:
        print(tables, end="")


if __name__ == "__main__":
    main()
