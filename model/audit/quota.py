"""Quota: a workspace never holds more GPUs than its quota, what runs already included."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each workspace that is given GPUs beyond its quota."""
    held, given = Counter[str](), Counter[str]()
    for run, worker in plan.holding:
        held[run.workspace] += len(worker.devices)
    for run, outcome in plan.starts:
        given[run.workspace] += sum(len(worker.devices) for worker in outcome.workers)
    for workspace, quota in plan.quotas.items():
        if given[workspace] and held[workspace] + given[workspace] > quota:
            text = (
                f"workspace {workspace} holds {held[workspace]} GPUs and is given "
                f"{given[workspace]} more; its quota is {quota}"
            )
            yield Violation("quota", None, None, text)
