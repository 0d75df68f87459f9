"""Min nodes: a run never has fewer workers than it asks for."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.cut import cut_of
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each run that starts with fewer workers than its min_nodes; elements are no gangs."""
    for run, outcome in plan.starts:
        wrong = cut_of(run).too_few(len(outcome.workers))
        if wrong and outcome.workers:
            yield Violation("min_nodes", run.name, None, wrong)
