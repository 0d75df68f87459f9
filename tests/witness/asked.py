"""What a run asks, what it holds already, and what its workspace may hold."""

from __future__ import annotations

import math

from stowplan.model.decision import Decision, PlacedRun, Worker
from stowplan.model.runs import PlacedWorker, Run
from stowplan.model.snapshot import Snapshot


def run_named(snapshot: Snapshot, name: str) -> Run:
    return next(run for run in snapshot.runs if run.name == name)


def gpus_each(run: Run) -> int:
    """The GPUs of one worker: a GPU run has one worker, and an array's element is one."""
    return run.gpus.count


def cores_each(run: Run, gpus: int) -> int:
    return round(run.cpu_cores * 1000) + gpus * round(run.per_gpu.cpu_cores * 1000)


def memory_each(run: Run, gpus: int) -> int:
    return run.memory_bytes + gpus * run.per_gpu.memory_bytes


def may_share(run: Run) -> bool:
    """Whether two workers of the run may be on one machine."""
    return bool(run.array) or (run.node_selection.mode == "any" and not run.machines)


def is_uneven(run: Run) -> bool:
    if not run.gpus.count:
        return False
    named = len(run.node_selection.names) if run.node_selection.mode == "exact" else 0
    workers = 1 if run.array else run.machines or named or 1
    return bool(
        run.gpus.count % workers or run.gpus.count // workers < (run.gpus.min_per_machine or 0)
    )


def is_superseded(snapshot: Snapshot, run: Run) -> bool:
    if run.state != "starting" or run.placed is None or run.placed.generation is None:
        return False
    return run.placed.generation < snapshot.fleet.generation


def holding(snapshot: Snapshot, run: Run) -> tuple[PlacedWorker, ...]:
    """The run's workers that hold their place."""
    if run.placed is None or run.state == "stopped" or is_superseded(snapshot, run):
        return ()
    return run.placed.workers


def elements_left(snapshot: Snapshot, run: Run) -> int:
    """How many of an array's elements neither run nor have ended; 0 where it starts no more."""
    if run.array is None or run.state == "stopped" or is_superseded(snapshot, run):
        return 0
    return run.array.size - len(run.array.finished) - len(holding(snapshot, run))


def may_start(snapshot: Snapshot, run: Run) -> int:
    """How many of its elements may start, going by the array alone; a run that waits counts 1."""
    if run.array is None:
        return int(run.state == "pending")
    left = elements_left(snapshot, run)
    if run.array.max_parallel is not None:
        left = min(left, run.array.max_parallel - len(holding(snapshot, run)))
    return max(0, left)


def is_waiting(snapshot: Snapshot, run: Run) -> bool:
    """Whether the run, or some of its elements, stands in its workspace's queue."""
    return elements_left(snapshot, run) > 0 if run.array else run.state == "pending"


def weight_each(snapshot: Snapshot, run: Run) -> int:
    """The weight of one unit of the run: 8, and 1 more for each eighth of ageing_s waited."""
    waited = (snapshot.now - (run.submitted_at or snapshot.now)).total_seconds()
    return 8 + min(64, max(0, math.floor(waited)) * 8 // snapshot.policy.ageing_s)


def placed_workers(decision: Decision | None) -> dict[str, tuple[Worker, ...]]:
    """What a decision places, by run."""
    outcomes = decision.outcomes if decision else ()
    return {each.run: each.workers for each in outcomes if isinstance(each, PlacedRun)}


def quota_of(snapshot: Snapshot, workspace: str) -> int | None:
    quotas = [each.gpu_quota for each in snapshot.policy.workspaces if each.name == workspace]
    return quotas[0] if quotas else None


def taking(snapshot: Snapshot, run: Run, decision: Decision | None) -> list[PlacedWorker | Worker]:
    """The run's workers that hold their place, and those that a decision places."""
    return [*holding(snapshot, run), *placed_workers(decision).get(run.name, ())]


def gpus_held(snapshot: Snapshot, workspace: str, decision: Decision | None = None) -> int:
    """The GPUs that the workspace's runs hold, and those that a decision gives them."""
    return sum(
        len(worker.devices)
        for run in snapshot.runs
        if run.workspace == workspace
        for worker in taking(snapshot, run, decision)
    )


def is_within_quota(snapshot: Snapshot, run: Run, gpus: int, held: int) -> bool:
    quota = quota_of(snapshot, run.workspace)
    return quota is None or gpus == 0 or held + gpus <= quota
