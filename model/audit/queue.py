"""Queue: in a strict queue no run starts before an earlier one that could ever start."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from stowplan.model.audit.alone import EmptyFleet
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each run that starts although an earlier one of its workspace waits."""
    if plan.snapshot.policy.queue != "strict":
        return
    begun = {run.name for run, outcome in plan.starts if outcome.workers}
    empty = EmptyFleet(plan)
    for queue in _queues(plan):
        last = max((place for place, run in enumerate(queue) if run.name in begun), default=-1)
        first: Run | None = None
        for run in queue[: last + 1]:
            if run.name in begun:
                if first:
                    text = f"starts before {first.name}, which comes earlier in {run.workspace}"
                    yield Violation("queue", run.name, None, text)
            elif first is None and not plan.held_by.get(run.name) and empty.could_start(run):
                first = run


def _queues(plan: Plan) -> Iterator[list[Run]]:
    """Yield each workspace's waiting runs: by priority, then time of submission, then name."""
    waiting: dict[str, list[Run]] = defaultdict(list)
    for run in plan.snapshot.runs:
        if plan.may_start(run) and (run.array is None or plan.elements_left(run)):
            waiting[run.workspace].append(run)
    now = plan.snapshot.now
    for queue in waiting.values():
        yield sorted(queue, key=lambda run: (-run.priority, run.submitted_at or now, run.name))
