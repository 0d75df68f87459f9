"""Fragmentation gradient descent, written from the paper (Weng et al., ATC'23), on whole GPUs.

A host's fragmentation is the GPUs that the typical runs can't use there, by their popularity. A
run goes where it makes the least of it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from tests.bench.plain import GPUS, MILLICORES, SOUND, Flags, Ints, Problem, taken
from tests.bench.policies.answer import Answer, Task
from tests.bench.policies.online import Score, Scores, placed

POPULAR = 0.95
"""The typical runs are the most popular kinds that make up this share."""


@dataclass(frozen=True)
class Typical:
    """Kinds of runs that are told apart by cores, GPUs and where they may go, not by memory."""

    gpus: Ints
    sound: Flags
    """Whether they need sound GPUs."""
    millicores: Ints
    accepts: Flags
    """Kinds x traits."""
    share: Scores


def typical(problem: Problem) -> Typical:
    """Return the typical runs among those that wait."""
    seen = 0
    rows = []
    told = {
        number: (*kind.asks[: MILLICORES + 1], tuple(problem.accepts[number].tolist()))
        for number, kind in enumerate(problem.kinds)
    }
    for row, count in Counter(told[number] for number in problem.queue).most_common():
        if seen >= POPULAR * len(problem.queue):
            break
        rows.append((*row, count / len(problem.queue)))
        seen += count
    gpus, sound, millicores, accepts, share = zip(*rows, strict=True)
    return Typical(
        np.array(gpus),
        np.array(sound) > 0,
        np.array(millicores),
        np.array(accepts),
        np.array(share),
    )


def fgd(problem: Problem, runs: Typical | None = None) -> Score:
    """Score by how little fragmentation grows, for runs like those that wait or those given."""
    runs = runs or typical(problem)

    def fragmented(trait: int, rooms: Ints) -> Scores:
        usable = np.where(runs.sound, rooms[:, SOUND, None], rooms[:, GPUS, None])
        fits = (runs.gpus <= usable) & (runs.millicores <= rooms[:, MILLICORES, None])
        fits &= (runs.gpus > 0) & runs.accepts[:, trait]
        unusable: Scores = (rooms[:, GPUS, None] - np.where(fits, usable, 0)) @ runs.share
        return unusable

    def score(trait: int, room: Ints) -> Scores:
        before = fragmented(trait, room[None])
        after = fragmented(trait, taken(room, problem.asks))
        return np.floor(100 / (1 + np.exp(after - before)))

    return score


def in_queue_fgd(task: Task) -> Answer:
    """Place the runs as they stand in the queue, knowing what typical runs are."""
    problem = task.problem
    return Answer(placed(problem, fgd(problem), problem.queue))
