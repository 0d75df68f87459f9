"""Place 200 runs on a whole catalog: `python -m tests.bench.money.market [--tight] [--seeds N]`.

Each seed is another draw of runs and of how much is available. Two plain ways place the same runs
one by one; what they come to stands beside, over the runs that both place.
"""

from __future__ import annotations

import argparse
import datetime as dt
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import stowplan
from stowplan.model.decision import Decision, Estimate, PlacedRun
from stowplan.model.snapshot import Snapshot
from tests.bench.money.baselines import Placed, cheapest_rate, one_by_one
from tests.bench.money.instance import is_here, left_out, market
from tests.bench.money.tables import PAGE, put, table

COLUMNS = (
    "seed", "s", "processor s", "place gap", "value gap", "placed", "GPUs", "USD/h", "USD in all",
)  # fmt: skip
OTHERS = (
    "way", "placed to ours", "GPUs to ours", "USD/h", "USD", "balanced: USD/h", "cost: USD",
    "speed: hours",
)  # fmt: skip
WAYS: Mapping[str, Callable[[Snapshot], Placed]] = {
    "one by one": one_by_one,
    "cheapest rate": cheapest_rate,
}

type Figure = Callable[[Estimate], float]


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
    def usd(self) -> float:
        """What the placed runs cost to completion of which that is known."""
        return sum(usd(each) for each in self.placed.values() if each.cost_usd)

    def gpus(self, placed: Placed) -> int:
        """Return the GPUs of the runs that a plain way places."""
        return sum(run.gpus.count or 0 for run in self.snapshot.runs if run.name in placed.hosts)

    def ratios(self, other: Placed) -> tuple[float, ...]:
        """Return what another way comes to over ours, as `OTHERS` has it.

        Rates and costs are over the runs that both place: of all, then of each profile what it
        asks for. Costs and times are of runs whose length is known.
        """
        summary = self.decision.summary
        return (
            len(other.hosts) / max(1, summary.placed),
            self.gpus(other) / max(1, summary.gpus_placed),
            self._over(other, "rate"),
            self._over(other, "cost"),
            self._over(other, "rate", "balanced"),
            self._over(other, "cost", "cost"),
            self._over(other, "finish", "speed"),
        )

    def _over(self, other: Placed, figure: str, profile: str | None = None) -> float:
        theirs = ours = 0.0
        placed = self.placed
        for run in self.snapshot.runs:
            of_profile = profile is None or run.placement.profile == profile
            if not of_profile or not (run.name in placed and run.name in other.hosts):
                continue
            own, host = placed[run.name], other.hosts[run.name]
            if figure == "rate":
                theirs += host.rate / 1e6
                ours += float(own.rate_usd_per_hour)
            elif host.is_total and figure == "cost":
                theirs += host.cost.p50 / 1e6
                ours += usd(own)
            elif host.is_total:
                assert own.finish
                theirs += host.finish_s.p50
                done = dt.datetime.fromisoformat(str(own.finish.p50))
                ours += (done - self.snapshot.now).total_seconds()
        return theirs / ours if ours else 1.0


def usd(estimate: Estimate) -> float:
    """Return the expected cost of a run whose length is known."""
    assert estimate.cost_usd
    return float(estimate.cost_usd.p50)


def measure(snapshot: Snapshot, seed: int) -> Measured:
    """Return what we and the plain ways make of a snapshot."""
    began, used = time.perf_counter(), time.process_time()
    decision = stowplan.solve(snapshot)
    took, used = time.perf_counter() - began, time.process_time() - used
    ways = {name: way(snapshot) for name, way in WAYS.items()}
    return Measured(snapshot, seed, took, used, decision, ways)


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
    middle = statistics.median(ratios)
    return f"{middle:.3f} ({min(ratios):.3f} to {max(ratios):.3f})"


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
