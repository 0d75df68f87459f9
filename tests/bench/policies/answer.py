"""What a policy is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stowplan.model.snapshot import Snapshot
from tests.bench.plain import Ints, Problem


@dataclass(frozen=True)
class Task:
    """One instance, as a snapshot and in plain form, and when to stop."""

    snapshot: Snapshot
    problem: Problem
    time_limit_s: float
    gap: float


@dataclass(frozen=True)
class Answer:
    """How many runs of each kind go to each host (kinds x hosts), and what is proven of it."""

    placed: Ints
    bound: float | None = None
    """No answer weighs more, summed over priorities, given what those above got."""
    status: str = ""
    place_s: float | None = None
    """Seconds of the search for which runs start."""
    stages_s: float | None = None
    """Seconds of all searches."""
    deterministic: float | None = None
    variables: int | None = None
    constraints: int | None = None


type Policy = Callable[[Task], Answer]
