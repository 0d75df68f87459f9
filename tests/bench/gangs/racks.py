"""Place gangs and runs on 10,000 GPUs: `python -m tests.bench.gangs.racks [--seeds N]`.

Each seed is another fleet in use and other runs that wait. Beside our decision stand two things:
what a scheduler places that goes down the ladder run by run, and a bound that knows no groups.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import Counter
from collections.abc import Sequence

from tests.bench.gangs.measure import OURS, Measured, Size, Way, measured
from tests.bench.money.tables import PAGE, put, table
from tests.bench.plain import UNIT

COLUMNS = (
    "seed", "way", "weight by priority", "place gap", "bound gap", "rung gap", "s", "place s",
    "GPUs", "gangs", "rungs", "sum", "MiB",
)  # fmt: skip
BOTH = ("seed", "gangs", "rungs, ours", "the ladder's", "machines, ours", "the ladder's")


def row(each: Measured, way: Way) -> tuple[str, ...]:
    """Return one way's figures as they are printed."""
    is_ours = way.name == OURS
    counts = Counter(way.rungs.values())
    return (
        str(each.seed),
        way.name,
        " / ".join(f"{weight / UNIT:,.0f}" for weight in way.weights),
        _share(way.place_gap),
        _share(each.bound_gap) if is_ours else "",
        _share(way.rung_gap),
        f"{way.seconds:.2f}",
        "" if way.place_s is None else f"{way.place_s:.2f}",
        f"{way.gpus:,}",
        str(len(way.rungs)),
        " ".join(f"{rung}:{count}" for rung, count in sorted(counts.items())),
        str(sum(way.rungs.values())),
        "" if way.peak_mib is None else f"{way.peak_mib:,.0f}",
    )


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2%}"


def both(each: Measured) -> tuple[str, ...]:
    """Return what the gangs that both ways place come to."""
    ours, theirs = each.ways
    names = ours.rungs.keys() & theirs.rungs.keys()
    figures = (
        sum(way[name] for name in names)
        for way in (ours.rungs, theirs.rungs, ours.workers, theirs.workers)
    )
    return (str(each.seed), str(len(names)), *map(str, figures))


def told(run: Sequence[Measured]) -> str:
    """Return both tables: every seed's two ways, and the gangs that both place."""
    seconds = [each.ways[0].seconds for each in run]
    ratios = [each.ways[0].weight / each.ways[1].weight for each in run]
    rows = [row(each, way) for each in run for way in each.ways]
    limits = sorted({limit for each in run if (limit := each.ways[0].limit)})
    cut = f" Cut short: {'; '.join(limits)}." if limits else ""
    return (
        f"{table(COLUMNS, rows)}\n"
        f"Median {statistics.median(seconds):.2f} s, worst {max(seconds):.2f} s.{cut} Weight to the"
        f"\nladder's: {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f}).\n\n"
        f"{table(BOTH, [both(each) for each in run])}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table, two rows a seed, and one of the gangs that both ways place."""
    own = Size()
    parser = argparse.ArgumentParser(prog="python -m tests.bench.gangs.racks", description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="how many, from the first on")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--machines", type=int, default=own.machines)
    parser.add_argument("--racks", type=int, default=own.racks)
    parser.add_argument("--fabrics", type=int, default=own.fabrics)
    parser.add_argument("--singles", type=int, default=own.singles, help="runs on one machine")
    parser.add_argument("--gangs", type=int, default=own.gangs)
    parser.add_argument("--time-limit", type=float, metavar="S", help="seconds of search")
    parser.add_argument(
        "--markdown", metavar="NAME", help=f"write the tables into docs/{PAGE.name}, under a name"
    )
    asked = parser.parse_args(arguments)
    size = Size(asked.machines, asked.racks, asked.fabrics, asked.singles, asked.gangs)
    run = []
    for seed in range(asked.first_seed, asked.first_seed + asked.seeds):
        print(f"seed {seed}", end=" ", flush=True, file=sys.stderr)
        run.append(measured(seed, size, asked.time_limit))
        print(f"{run[-1].ways[0].seconds:.2f} s", file=sys.stderr)
    if asked.markdown:
        put(PAGE, asked.markdown, told(run))
    else:
        print(told(run), end="")


if __name__ == "__main__":
    main()
