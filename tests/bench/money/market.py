"""Place 200 runs on a whole catalog: `python -m tests.bench.money.market [--tight] [--seeds N]`.

Each seed is another draw of runs and of how much is available. Two plain ways place the same runs
one by one; what they come to stands beside, over the runs that both place.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

import stowplan
from stowplan.model.decision import Decision, Estimate, PlacedRun
from stowplan.model.snapshot import Snapshot
from tests.bench.money.baselines import Placed, cheapest_rate, one_by_one
from tests.bench.money.checking import check
from tests.bench.money.instance import is_here, left_out, market
from tests.bench.money.regret import Worth
from tests.bench.money.tables import PAGE, put, table

COLUMNS = (
    "seed", "s", "processor s", "place gap", "value gap", "placed", "GPUs", "USD/h", "USD in all",
    "regret",
)  # fmt: skip
OTHERS = ("way", "placed", "GPUs", "USD/h", "USD", "regret")
WAYS: Mapping[str, Callable[[Snapshot], Placed]] = {
    "one by one": one_by_one,
    "cheapest rate": cheapest_rate,
}


@dataclass(frozen=True)
class Measured:
    """One seed: our decision, and the plain ways."""

    snapshot: Snapshot
    seed: int
    seconds: float
    processor_s: float
    decision: Decision
    ways: Mapping[str, Placed] = field(default_factory=dict)

    def gap(self, stage: str) -> float:
        """Return the gap of a stage; 0 where it had nothing to decide."""
        return next((each.gap for each in self.decision.solver.stages if each.name == stage), 0.0)

    @property
    def placed(self) -> dict[str, Estimate]:
        """The estimate of each run that is placed."""
        return {
            each.run: each.estimate
            for each in self.decision.outcomes
            if isinstance(each, PlacedRun) and each.estimate
        }

    @property
    def hosts(self) -> dict[str, str]:
        """The offering that each placed run takes."""
        return {
            each.run: each.workers[0].host.partition("#")[0]  # `#`: an instance of it
            for each in self.decision.outcomes
            if isinstance(each, PlacedRun)
        }

    @cached_property
    def worth(self) -> Worth:
        """What every offering is worth to each run."""
        return Worth(self.snapshot)

    @property
    def usd(self) -> float:
        """What the placed runs cost to completion of which that is known."""
        return sum(usd(each) for each in self.placed.values() if each.cost_usd)

    def gpus(self, placed: Placed) -> int:
        """Return the GPUs of the runs that a plain way places."""
        return sum(run.gpus.count or 0 for run in self.snapshot.runs if run.name in placed.hosts)

    def ratios(self, other: Placed) -> tuple[float, ...]:
        """Return what another way comes to over ours, as `OTHERS` has it.

        Rates, costs and regret are over the runs that both place, costs over those whose length is
        known.
        """
        summary = self.decision.summary
        ours, theirs = self.placed, other.hosts
        both = [name for name in ours if name in theirs]
        known = [name for name in both if theirs[name].is_total]
        names = {name: host.name for name, host in theirs.items()}
        return (
            len(theirs) / max(1, summary.placed),
            self.gpus(other) / max(1, summary.gpus_placed),
            _over(
                sum(theirs[name].rate for name in both) / 1e6,
                sum(float(ours[name].rate_usd_per_hour) for name in both),
            ),
            _over(
                sum(theirs[name].cost.p50 for name in known) / 1e6,
                sum(usd(ours[name]) for name in known),
            ),
            _over(self.worth.regret(names, both), self.worth.regret(self.hosts, both)),
        )


def _over(theirs: float, ours: float) -> float:
    if not ours:
        return math.inf if theirs else 1.0
    return theirs / ours


def usd(estimate: Estimate) -> float:
    """Return the expected cost of a run whose length is known."""
    assert estimate.cost_usd
    return float(estimate.cost_usd.p50)


def measure(snapshot: Snapshot, seed: int) -> Measured:
    """Return what we and the plain ways make of a snapshot, each checked offering by offering."""
    began, used = time.perf_counter(), time.process_time()
    decision = stowplan.solve(snapshot)
    took, used = time.perf_counter() - began, time.process_time() - used
    ways = {name: way(snapshot) for name, way in WAYS.items()}
    found = Measured(snapshot, seed, took, used, decision, ways)
    check(snapshot, found.hosts)
    for way in ways.values():
        check(snapshot, {run: host.name for run, host in way.hosts.items()})
    return found


def row(each: Measured) -> tuple[str, ...]:
    """Return a seed's figures as they are printed."""
    summary = each.decision.summary
    return (
        str(each.seed),
        f"{each.seconds:.2f}",
        f"{each.processor_s:.2f}",
        f"{each.gap('place'):.3%}",
        f"{each.gap('value'):.3%}",
        str(summary.placed),
        str(summary.gpus_placed),
        f"{summary.usd_per_hour.quantize(Decimal('0.01')):,}",
        f"{each.usd:,.0f}",
        f"{each.worth.regret(each.hosts, each.hosts):,.2f}",
    )


def told(run: Sequence[Measured]) -> str:
    """Return both tables: ours seed by seed, and the plain ways with the median and the span."""
    seconds = [each.seconds for each in run]
    others = []
    for name in WAYS:
        columns = zip(*(each.ratios(each.ways[name]) for each in run), strict=True)
        others.append((name, *(_span(list(column)) for column in columns)))
    return (
        f"{table(COLUMNS, [row(each) for each in run])}\n"
        f"Median {statistics.median(seconds):.2f} s, worst {max(seconds):.2f} s.\n\n"
        f"{table(OTHERS, others)}"
    )


def _span(ratios: Sequence[float]) -> str:
    middle, least, most = (f"{of(ratios):.3f}" for of in (statistics.median, min, max))
    return middle if least == most else f"{middle} ({least} to {most})"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table, a row a seed, and one of the plain ways."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.money.market", description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--tight", action="store_true", help="budgets that not all runs fit in")
    parser.add_argument(
        "--markdown", action="store_true", help=f"write the tables into docs/{PAGE.name}"
    )
    asked = parser.parse_args(arguments)
    name = "market-tight" if asked.tight else "market"
    if not is_here():
        print(left_out(name), file=sys.stderr)
        return
    run = []
    for seed in range(1, asked.seeds + 1):
        print(f"{name}, seed {seed}", end=" ", flush=True, file=sys.stderr)
        run.append(measure(market(seed, tight=asked.tight), seed))
        print(f"{run[-1].seconds:.2f} s", file=sys.stderr)
    if asked.markdown:
        put(PAGE, name, told(run))
    else:
        print(told(run), end="")


if __name__ == "__main__":
    main()
