"""Measure policies on instances: `python -m tests.bench [INSTANCE ...]`, from the project's root.

Without an instance a short slice runs, in about a minute. Each measurement has a process of its
own, one after the other, so that times and memory are its own.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.bench.catalogue import FULL, INSTANCES, POLICIES, SMALL
from tests.bench.measure import Measured, measured
from tests.bench.page import PAGE, refreshed
from tests.bench.report import told, write_csv

SLICE_S = 5.0
FULL_S = 30.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table for each instance."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    for given, known in ((asked.instances, INSTANCES), (asked.policies, POLICIES)):
        if unknown := [name for name in given if name not in known]:
            parser.error(f"no such thing as {', '.join(unknown)}; there are {', '.join(known)}")
    names = asked.instances or list(FULL if asked.all else SMALL)
    limit = asked.time_limit or (SLICE_S if set(names) <= set(SMALL) else FULL_S)
    run: list[Measured] = []
    for name in names:
        if not INSTANCES[name].is_here():
            needs = INSTANCES[name].needs
            print(f"{name}: left out, the trace isn't here ({needs})", file=sys.stderr)
            continue
        first = INSTANCES[name].first_seed
        for seed in range(first, first + asked.seeds):
            for policy in asked.policies:
                print(f"{name}, seed {seed}: {policy}", end=" ", flush=True, file=sys.stderr)
                run.append(measured(name, seed, policy, limit, asked.gap))
                print(f"{run[-1].seconds:.2f} s {run[-1].status}", file=sys.stderr)
                if asked.csv:
                    write_csv(asked.csv, run)
    if asked.markdown and run:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(refreshed(page, told(run, markdown=True), limit), encoding="utf-8")
    else:
        print(told(run, markdown=False), end="")
    if failed := sum(each.is_failed() for each in run):
        print(f"{failed} of {len(run)} measurements failed", file=sys.stderr)
        sys.exit(1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    listed = "; ".join(f"{name}: {instance.told}" for name, instance in INSTANCES.items())
    listed = listed.replace("%", "%%")  # argparse reads it as a format
    parser.add_argument("instances", nargs="*", metavar="INSTANCE", help=listed)
    parser.add_argument("--all", action="store_true", help="every instance of full size")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds of each instance")
    parser.add_argument(
        "--policies",
        type=lambda given: given.split(","),
        default=list(POLICIES),
        help=f"some of {','.join(POLICIES)}",
    )
    parser.add_argument(
        "--time-limit", type=float, metavar="S", help="seconds of search, for every policy"
    )
    parser.add_argument("--gap", type=float, default=0.001, help="stop when proven this near")
    parser.add_argument(
        "--csv", type=Path, metavar="FILE", help="every figure of every measurement"
    )
    parser.add_argument(
        "--markdown", action="store_true", help="write the tables into docs/benchmarks.md"
    )
    return parser


if __name__ == "__main__":
    main()
