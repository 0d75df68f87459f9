"""Ladder: the rung and the group that a decision tells of a run are those of its machines."""

from __future__ import annotations

from collections.abc import Iterator, Set

from stowplan.model.audit.places import bond
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.seats import Start
from stowplan.model.audit.violation import Violation
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each run whose rung or group is told wrongly, or whose shape has no word of why."""
    for start in plan.starts:
        for wrong in _wrong(plan, start):
            yield Violation("ladder", start.run.name, None, wrong)


def _wrong(plan: Plan, start: Start) -> Iterator[str]:
    run, told = start
    if not told.shape.why.strip():
        yield "doesn't say why it is cut so"
    names = {worker.host for worker in told.workers}
    if not names or (run.array is None and _spans_sites(plan, names)):
        return  # another rule says so
    rung, group = _right(plan, run, names)
    if (told.rung, told.group) != (rung, group):
        yield f"is told to be on rung {told.rung} in {told.group}; it is on {rung} in {group}"


def _spans_sites(plan: Plan, names: Set[str]) -> bool:
    there = [plan.places[name] for name in names if name in plan.places]
    return len({place.site for place in there}) > 1


def _right(plan: Plan, run: Run, names: Set[str]) -> tuple[int | None, str | None]:
    """Return the rung and the group; none of what is bought.

    Elements of an array are runs of their own: on one machine, and in no group.
    """
    joined = bond([plan.places[name] for name in names]) if names <= plan.places.keys() else None
    if joined is None:
        return None, None
    if run.array:
        return (1 if len(names) == 1 else None), None
    return joined
