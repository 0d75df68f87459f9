"""Scope: the instances that a run of several workers is on are as near each other as it asks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Offering
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each run that is on instances farther apart than it asks."""
    return plan.bought_apart("scope", apart)


def apart(plan: Plan, run: Run, offerings: Sequence[Offering]) -> str | None:
    """Say which two of these offerings are farther apart than the run asks, or None."""
    for one, other in combinations(offerings, 2):
        if not near(run, one, other):
            return f"is on {one.name} and {other.name}, and asks for scope {run.network.scope}"
    return None


def near(run: Run, one: Offering, other: Offering) -> bool:
    """Whether instances of both are as near each other as the run asks."""
    match run.network.scope:
        case "global":
            return True
        case "regional" if one.region_class is not None or other.region_class is not None:
            return one.region_class == other.region_class
        case _:
            return colocated(one, other)


def colocated(one: Offering, other: Offering) -> bool:
    """Whether instances of both are in one location and one network.

    Those of one offering are. Else both must tell their location; of one that tells no network it
    is its provider's own.
    """
    if one.name == other.name:
        return True
    if one.location is None or one.location != other.location:
        return False
    if one.network is None or other.network is None:
        return one.network is other.network and one.provider == other.provider
    return one.network.id == other.network.id
