"""Array limit: an array runs at most `max_parallel` elements at once, the lowest started first."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.seats import Start
from stowplan.model.audit.violation import Violation


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each array that starts too many elements, or others than its lowest."""
    for start in plan.starts:
        if wrong := _wrong(plan, start):
            yield Violation("array_limit", start.run.name, None, wrong)


def _wrong(plan: Plan, start: Start) -> str | None:
    run, outcome = start
    elements = [worker.element for worker in outcome.workers]
    if run.array is None:
        told = any(element is not None for element in elements)
        return "tells elements, and is no array" if told else None
    running = len(plan.held_by.get(run.name, ()))
    left = plan.elements_left(run)
    limit = run.array.max_parallel
    if limit is not None and running + len(elements) > limit:
        return f"{running} elements run and {len(elements)} start; at most {limit} at once"
    if len(elements) > left:
        return f"{len(elements)} elements start, and {left} are left"
    lowest = plan.lowest_left(run, len(elements))
    numbered = sorted(element for element in elements if element is not None)
    return (
        f"elements {numbered} start; the lowest left are {lowest}" if numbered != lowest else None
    )
