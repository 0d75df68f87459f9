"""Place 200 runs on a whole catalog: `python -m tests.bench.money.market [--tight] [--seeds N]`.

Each seed is another draw of runs and of how much is available. Two plain ways place the same runs
one by one; their totals stand beside, and over the runs that both place.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import stowplan
from stowplan.model.decision import Decision, PlacedRun
from stowplan.model.snapshot import Snapshot
from tests.bench.money.baselines import Placed, cheapest_rate, one_by_one
from tests.bench.money.instance import CATALOG, is_here, market

COLUMNS = (
    "seed", "s", "place gap", "value gap", "placed", "USD/h", "USD in all",
    "one by one", "their USD", "by rate", "their USD",
)  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """One seed: our decision and the plain ways."""

    seed: int
    seconds: float
    decision: Decision
    plain: Placed
    by_rate: Placed

    def gap(self, stage: str) -> float:
        """Return the gap of a stage; 0 where it had nothing to decide."""
        return next((each.gap for each in self.decision.solver.stages if each.name == stage), 0.0)

    @property
    def costs(self) -> dict[str, float]:
        """Our cost of each placed run whose length is known."""
        return {
            run.run: float(run.estimate.cost_usd.p50)
            for run in self.decision.outcomes
            if isinstance(run, PlacedRun) and run.estimate and run.estimate.cost_usd
        }

    def ratio(self, other: Placed) -> float:
        """Return another way's dollars over ours, for the runs that both place."""
        ours = self.costs
        both = [name for name in ours if name in other.hosts and other.hosts[name].is_total]
        theirs = sum(other.hosts[name].cost.p50 for name in both) / 1e6
        return theirs / sum(ours[name] for name in both) if both else 1.0


def measure(snapshot: Snapshot, seed: int) -> Measured:
    """Return what we and the plain ways make of a snapshot."""
    began = time.perf_counter()
    decision = stowplan.solve(snapshot)
    took = time.perf_counter() - began
    return Measured(seed, took, decision, one_by_one(snapshot), cheapest_rate(snapshot))


def row(each: Measured) -> tuple[str, ...]:
    """Return a seed's figures as they are printed."""
    summary = each.decision.summary
    return (
        str(each.seed),
        f"{each.seconds:.2f}",
        f"{each.gap('place'):.3%}",
        f"{each.gap('value'):.3%}",
        str(summary.placed),
        f"{summary.usd_per_hour.quantize(Decimal('0.01')):,}",
        f"{sum(each.costs.values()):,.0f}",
        str(len(each.plain.hosts)),
        f"x {each.ratio(each.plain):.3f}",
        str(len(each.by_rate.hosts)),
        f"x {each.ratio(each.by_rate):.3f}",
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table, a row a seed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.money.market", description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--tight", action="store_true", help="budgets that not all runs fit in")
    asked = parser.parse_args(arguments)
    if not is_here():
        print(f"left out: the catalog isn't here ({CATALOG.name})")
        return
    print(f"| {' | '.join(COLUMNS)} |\n|{' ---: |' * len(COLUMNS)}")
    run = []
    for seed in range(1, asked.seeds + 1):
        run.append(measure(market(seed, tight=asked.tight), seed))
        print(f"| {' | '.join(row(run[-1]))} |", flush=True)
    seconds = [each.seconds for each in run]
    print(f"\nmedian {statistics.median(seconds):.2f} s, worst {max(seconds):.2f} s")


if __name__ == "__main__":
    main()
