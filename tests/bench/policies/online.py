"""One run after the other, each to the host with the best score: first-fit, best-fit, and greedy.

First-fit decreasing isn't online: it takes the runs by priority and then the largest first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from tests.bench.plain import GPUS, MILLICORES, Ints, Problem, taken
from tests.bench.policies.answer import Answer, Task

type Scores = NDArray[np.float64]
type Score = Callable[[int, Ints], Scores]
"""How good a host of these traits and with this room is, for each kind; where none fits, anything.

The first of the best takes a run.
"""

MOST_CORES, MOST_GPUS = 128_000, 8
NOWHERE = -1


def first_fit(problem: Problem) -> Score:
    """Score all alike: the lowest index wins."""
    same = np.zeros(len(problem.kinds))
    return lambda trait, room: same


def best_fit(problem: Problem) -> Score:
    """Score by how little is left: half by cores, half by GPUs."""
    most_cores = max(MOST_CORES, int(problem.room[:, MILLICORES].max()))
    most_gpus = max(MOST_GPUS, int(problem.room[:, GPUS].max()))

    def score(trait: int, room: Ints) -> Scores:
        left = room - problem.asks
        idle = 0.5 * left[:, MILLICORES] / most_cores + 0.5 * left[:, GPUS] / most_gpus
        return np.floor((1 - idle) * 100)

    return score


def placements(
    problem: Problem, score: Score, queue: Iterable[int], room: Ints | None = None
) -> Iterator[tuple[int, int]]:
    """Yield each run's kind with the host it gets, the runs coming in this order."""
    left = np.array(problem.room if room is None else room)
    known: dict[tuple[int, bytes], Scores] = {}

    def scored(host: int) -> Scores:
        key = (int(problem.trait[host]), left[host].tobytes())
        if key not in known:
            fits = (problem.asks <= left[host]).all(1) & problem.accepts[:, key[0]]
            known[key] = np.where(fits, score(key[0], left[host]), -np.inf)
        return known[key]

    table = np.array([scored(host) for host in range(len(left))]).T.copy()
    for kind in queue:
        host = int(table[kind].argmax())
        if table[kind, host] == -np.inf:
            yield kind, NOWHERE
            continue
        left[host] = taken(left[host], problem.asks[kind])
        table[:, host] = scored(host)
        yield kind, host


def placed(problem: Problem, score: Score, queue: Iterable[int], room: Ints | None = None) -> Ints:
    """Return how many runs of each kind go to each host, the runs coming in this order."""
    answer = problem.nothing()
    for kind, host in placements(problem, score, queue, room):
        if host != NOWHERE:
            answer[kind, host] += 1
    return answer


def in_queue_first_fit(task: Task) -> Answer:
    """Place the runs as they stand in the queue by first-fit."""
    problem = task.problem
    return Answer(placed(problem, first_fit(problem), problem.queue))


def in_queue_best_fit(task: Task) -> Answer:
    """Place the runs as they stand in the queue by best-fit."""
    problem = task.problem
    return Answer(placed(problem, best_fit(problem), problem.queue))


def first_fit_decreasing(task: Task) -> Answer:
    """Place the runs by priority, then the largest first."""
    problem = task.problem
    return Answer(placed(problem, first_fit(problem), decreasing(problem, problem.queue)))


def decreasing(problem: Problem, runs: Iterable[int]) -> list[int]:
    """Return the kinds of runs by priority, then by GPUs, then by weight, then by cores."""

    def key(number: int) -> tuple[int, ...]:
        kind = problem.kinds[number]
        return (-kind.priority, -kind.asks[GPUS], -kind.weight, -kind.asks[MILLICORES])

    return sorted(runs, key=key)
