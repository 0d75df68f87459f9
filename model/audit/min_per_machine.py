"""Min per machine: no worker has fewer GPUs than its run asks for on each machine."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker with too few GPUs; runs without GPUs ask for none."""
    for run, outcome in plan.starts:
        least = run.gpus.min_per_machine if run.gpus.count else None
        for worker in outcome.workers if least else ():
            if least and len(worker.devices) < least:
                text = f"gets {len(worker.devices)} GPUs, fewer than min_per_machine {least}"
                yield Violation("min_per_machine", run.name, worker.host, text)
