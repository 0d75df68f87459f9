"""Transport: every two instances of a run that asks for direct paths are joined by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.scope import colocated
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Offering
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each run that asks for direct paths, and has none between two of its instances."""
    return plan.bought_apart("transport", apart)


def apart(plan: Plan, run: Run, offerings: Sequence[Offering]) -> str | None:
    """Say which two of these offerings have no direct path, one for each worker, or None."""
    for one, other in combinations(offerings, 2):
        if not joined(run, one, other):
            return f"is on {one.name} and {other.name}: no direct path is told to join them"
    return None


def joined(run: Run, one: Offering, other: Offering) -> bool:
    """Whether instances of both are joined as the run asks: privately where they are in one
    location and network, or directly."""
    if run.network.transport == "auto":
        return True
    paths = [set(each.network.paths) if each.network else set() for each in (one, other)]
    both = paths[0] & paths[1]
    return "direct" in both or ("private" in both and colocated(one, other))
