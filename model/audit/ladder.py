"""Ladder: the rung and the group that a decision tells of a run are those of its machines.

So are the words on why it is cut so: they name its machines, its GPUs and what joins them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from stowplan.model.audit.places import bond, common, shared
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.seats import Start
from stowplan.model.audit.violation import Violation
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each run whose rung, group, or words of why are others than those of its machines."""
    for start in plan.starts:
        for wrong in _wrong(plan, start):
            yield Violation("ladder", start.run.name, None, wrong)


def _wrong(plan: Plan, start: Start) -> Iterator[str]:
    run, told = start
    names = {worker.host for worker in told.workers}
    if not names or (run.array is None and _spans_sites(plan, names)):
        return  # another rule says so
    for words in _words(plan, start, names):
        if not re.search(rf"(?<![\w,]){re.escape(words)}(?!\w)", told.shape.why):
            yield f"says why it is cut so without a word of {words}: {told.shape.why!r}"
    rung, group = _right(plan, run, names)
    if (told.rung, told.group) != (rung, group):
        yield f"is told to be on rung {told.rung} in {told.group}; it is on {rung} in {group}"


def _words(plan: Plan, start: Start, names: Set[str]) -> Iterator[str]:
    """Yield what the words of why must name; nothing of what is bought."""
    run, told = start
    if not names <= plan.places.keys():
        return
    yield f"{len(names):,} machine{'s' if len(names) > 1 else ''}"
    if each := told.shape.gpus_each:
        yield f"{each:,} GPU{'s' if each > 1 else ''}"
    if run.array or len(names) < 2:
        return
    there = plan.places_for(run)
    places = [there[name] for name in names]
    joined, rack = bond(places), common(place.rack for place in places)
    if joined and joined.rung == 2:
        yield f"NVLink domain {joined.group}"
        return
    if joined and joined.rung < 7:
        best = min(shared(places), key=lambda each: (not each.is_firm, each.kind, each.name))
        network = {"infiniband": "InfiniBand", "roce": "RoCE"}[best.kind]
        yield network if best.is_assumed else f"{network} fabric {best.name}"
    else:
        yield "Ethernet"
    if rack is not None:
        yield f"rack {rack}"


def _spans_sites(plan: Plan, names: Set[str]) -> bool:
    there = [plan.places[name] for name in names if name in plan.places]
    return len({place.site for place in there}) > 1


def _right(plan: Plan, run: Run, names: Set[str]) -> tuple[int | None, str | None]:
    """Return the rung and the group; none of what is bought.

    Elements of an array are runs of their own: on one machine, and in no group.
    """
    there = plan.places_for(run)
    joined = bond([there[name] for name in names]) if names <= there.keys() else None
    if joined is None:
        return None, None
    if run.array:
        return (1 if len(names) == 1 else None), None
    return joined
