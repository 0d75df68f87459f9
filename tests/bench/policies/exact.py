"""Exact solvers on the counts model: priority after priority, each keeping what those above got.

Each priority gets an equal part of the time that is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tests.bench.plain import Ints
from tests.bench.policies.answer import Answer, Task
from tests.bench.policies.counts import Counts, of_tier

THREADS = 2


@dataclass(frozen=True)
class Found:
    """What a solver came to: values of the columns, if it has any, and the bound it proved."""

    values: Ints | None
    bound: float
    status: str


@dataclass(frozen=True)
class AtLeast:
    """A row: the columns, weighed so, sum up to at least this."""

    weights: Ints
    least: int


@dataclass(frozen=True)
class Question:
    """What is to be maximised over a counts model, and for how long."""

    counts: Counts
    objective: Ints
    kept: Sequence[AtLeast]
    start: Ints | None
    """An answer to begin from."""
    seconds: float
    gap: float


type Solver = Callable[[Question], Found]
"""Returns the best that it finds."""


def by_tier(task: Task, model: Counts, solver: Solver) -> tuple[Ints, Answer]:
    """Return the columns' values, and an answer that lacks only where the runs go."""
    problem = task.problem
    ends = time.monotonic() + task.time_limit_s
    values = np.zeros_like(model.upper)
    kept: list[AtLeast] = []
    bound = 0.0
    statuses = []
    for number, tier in enumerate(problem.tiers):
        weights = of_tier(problem, model, tier)
        seconds = (ends - time.monotonic()) / (len(problem.tiers) - number)
        start = values if number else None
        found = solver(Question(model, weights, kept, start, max(0.1, seconds), task.gap))
        values = values if found.values is None else found.values
        kept.append(AtLeast(weights, int(weights @ values)))
        bound += found.bound
        statuses.append(found.status)
    answer = Answer(
        problem.nothing(),
        bound=bound,
        status=" ".join(dict.fromkeys(statuses)),
        variables=len(model.upper),
        constraints=len(model.at_most),
    )
    return values, answer
