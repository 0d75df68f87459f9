"""What a run asks for, in plain form: its cuts, what it weighs, and where an answer puts it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stowplan.model.decision import Decision, PlacedRun
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.bench.plain import MOST_STEPS, UNIT


@dataclass(frozen=True)
class Placed:
    """Where a run is: the machine of each worker, all with as many GPUs, and the rung told."""

    hosts: tuple[str, ...]
    rung: int | None


type Answer = Mapping[str, Placed]
"""By the name of a run."""


def cuts_of(run: Run) -> list[tuple[int, int]]:
    """Return the ways to cut a run into workers, the fewest first: workers, GPUs each."""
    gpus, topology = run.gpus.count, run.topology
    return [
        (workers, gpus // workers)
        for workers in range(1, gpus + 1)
        if gpus % workers == 0
        and workers in (run.machines, workers if run.machines is None else 0)
        and gpus // workers >= (run.gpus.min_per_machine or 1)
        and (topology.min_nodes or 1) <= workers <= (topology.max_nodes or gpus)
    ]


def is_gang(run: Run) -> bool:
    """Whether a run may have several workers."""
    return cuts_of(run)[-1][0] > 1


def in_line(snapshot: Snapshot) -> list[Run]:
    """Return the runs that wait: by priority, then the oldest first, then by name."""
    waiting = [run for run in snapshot.runs if run.state == "pending"]
    return sorted(
        waiting, key=lambda run: (-run.priority, run.submitted_at or snapshot.now, run.name)
    )


def weight_of(run: Run, snapshot: Snapshot) -> int:
    """Return what a run weighs, in eighths of a GPU that a new run asks for."""
    waited = int((snapshot.now - (run.submitted_at or snapshot.now)).total_seconds())
    steps = min(MOST_STEPS, waited * UNIT // snapshot.policy.ageing_s)
    return run.gpus.count * (UNIT + steps)


def tiers_of(snapshot: Snapshot) -> list[int]:
    """Return the priorities of the runs that wait, the highest first."""
    return sorted({run.priority for run in in_line(snapshot)}, reverse=True)


def weight_by_tier(snapshot: Snapshot, answer: Answer) -> tuple[int, ...]:
    """Return the weight that an answer places of each priority, the highest first."""
    tiers = tiers_of(snapshot)
    weights = dict.fromkeys(tiers, 0)
    for run in in_line(snapshot):
        if run.name in answer:
            weights[run.priority] += weight_of(run, snapshot)
    return tuple(weights.values())


def placed_by(decision: Decision) -> Answer:
    """Return where a decision puts the runs that start."""
    return {
        outcome.run: Placed(tuple(worker.host for worker in outcome.workers), outcome.rung)
        for outcome in decision.outcomes
        if isinstance(outcome, PlacedRun)
    }
