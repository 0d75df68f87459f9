"""Rank one run over a whole catalog: `python -m tests.bench.money.ranking`.

The processor time for the ten best hosts and the estimate on the best, once the catalog is loaded;
and for the reason of every offering that wouldn't take the run. On a quiet machine that is the time
that passes.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence

from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from stowplan.solver.pricing import Market, Ranking
from tests.bench.money.instance import is_here, left_out, market


def ranked(found: Market, run: Run) -> Ranking:
    """Return a run's ranking, the ten best hosts and an estimate worked out."""
    ranking = found.ranked(run)
    assert isinstance(ranking, Ranking)
    best = ranking.best(10)
    if best:
        ranking.estimate(best[0].name)
    return ranking


def times(snapshot: Snapshot) -> tuple[list[float], list[float]]:
    """Return each run's milliseconds of processor: for its ranking, and for all reasons."""
    found = Market(snapshot)
    ranked(found, snapshot.runs[0])  # what the catalog alone needs is worked out by now
    rankings, reasons = [], []
    for run in snapshot.runs:
        began = time.process_time()
        ranking = ranked(found, run)
        then = time.process_time()
        assert ranking.out is not None
        rankings.append((then - began) * 1000)
        reasons.append((time.process_time() - then) * 1000)
    return rankings, reasons


def told(name: str, milliseconds: Sequence[float]) -> str:
    """Return the median, the ninetieth and the worst, in one line."""
    ordered = sorted(milliseconds)
    ninetieth = ordered[min(len(ordered) - 1, 9 * len(ordered) // 10)]
    return (
        f"{name}: median {statistics.median(ordered):.1f} ms, "
        f"p90 {ninetieth:.1f} ms, worst {ordered[-1]:.1f} ms of {len(ordered)} runs"
    )


def main() -> None:
    """Print the times."""
    if not is_here():
        print(left_out("ranking"), file=sys.stderr)
        return
    snapshot = market(1)
    rankings, reasons = times(snapshot)
    print(f"{len(snapshot.fleet.offerings):,} offerings")
    print(told("ranked, with the estimate", rankings))
    print(told("the reason of every other offering", reasons))


if __name__ == "__main__":
    main()
