"""Spread: two workers of one run never share a machine, unless the run lets them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from stowplan.model.audit.cut import cut_of
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each machine that several workers of a run share against its wish."""
    for run, outcome in plan.starts:
        if len(outcome.workers) < 2 or cut_of(run).may_share:
            continue
        there = Counter(worker.host for worker in outcome.workers)
        for host, count in there.items():
            if count > 1:
                yield Violation("spread", run.name, host, f"{count} of its workers share a machine")
