"""The random snapshots have every feature there is, and mostly something to decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hypothesis import given

from stowplan.model.fleet import Machine
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.oracle import best
from tests.strategies import examples, snapshots
from tests.witness.asked import (
    gpus_each,
    gpus_held,
    holding,
    is_superseded,
    is_waiting,
    is_within_quota,
    may_start,
    weight_each,
)
from tests.witness.fits import fits_alone, refusals, workers_of
from tests.witness.reasons import barred

DRAWN = 1000

EVERYWHERE = {
    "nothing waits", "no machine", "something is placed", "something waits", "they compete",
}  # fmt: skip

OF_MACHINES = {
    "cordoned", "draining", "pressure", "down", "up", "stale", "fresh to the second", "used",
    "reserved_for", "capabilities", "only", "labels", "pool", "max_accelerators", "denied", "mixed",
    "healthy", "unknown", "at_risk", "faulted", "no vendor", "no GPUs", "no capacity", "rdma",
    "clique", "overcommitted", "ids of its own", "cpu_pressure",
}  # fmt: skip

OF_RUNS = {
    "pending", "running", "starting", "stopped", "superseded", "on two hosts", "host gone",
    "GPU gone", "host stale", "array", "array that runs", "pending array that runs", "finished",
    "max_parallel", "full array", "gang of exact", "gang of any", "all", "names exact", "names any",
    "names and count", "machines", "match_labels", "needs", "drives", "need_bytes", "time_limit_s",
    "models", "vendor", "min_memory_gb", "healthy_only", "pinned", "min_per_machine", "fractions",
    "asks for nothing", "waited", "waited for longest", "submitted later", "priority",
    "over its quota", "twins",
}  # fmt: skip

CODES = {
    "MACHINE_DOWN", "HARDWARE_STALE", "MACHINE_PRESSURE", "MACHINE_CORDONED", "MACHINE_DRAINING",
    "MACHINE_RESERVED", "CAPABILITY_MISSING", "NOT_SELECTED", "LABEL_MISSING", "POOL_MISMATCH",
    "MAX_ACCELERATORS", "DRIVE_MISSING", "DRIVE_UNREACHABLE", "DRIVE_FULL", "POOL_RESTRICTED",
    "UNEVEN_SHAPE",
}  # fmt: skip


def test_every_feature_occurs_and_most_snapshots_decide_something() -> None:
    seen: Counter[str] = Counter()

    @examples(DRAWN)
    @given(snapshots())
    def look(snapshot: Snapshot) -> None:
        seen.update(set(_features(snapshot)))

    look()
    every = {*EVERYWHERE, *OF_MACHINES, *OF_RUNS, *CODES, "strict", "throughput"}
    rare = {feature: seen[feature] for feature in sorted(every) if seen[feature] < 2}
    assert rare == {}
    assert seen["something is placed"] > DRAWN * 0.55
    assert seen["something waits"] > DRAWN * 0.5
    assert seen["they compete"] > DRAWN * 0.15


def _features(snapshot: Snapshot) -> Iterator[str]:
    yield snapshot.policy.queue
    waiting = [run for run in snapshot.runs if is_waiting(snapshot, run)]
    alone = [run for run in waiting if fits_alone(snapshot, run.name)]
    shown = {
        "nothing waits": not waiting,
        "no machine": not snapshot.fleet.machines,
        "something is placed": any(best(snapshot)),
        "something waits": sum(best(snapshot)) < _all_of(snapshot, waiting),
        "they compete": sum(best(snapshot)) < _all_of(snapshot, alone),
    }
    yield from (feature for feature, is_shown in shown.items() if is_shown)
    for machine in snapshot.fleet.machines:
        yield from _of_machine(snapshot, machine)
    for run in snapshot.runs:
        yield from _of_run(snapshot, run)


def _all_of(snapshot: Snapshot, runs: list[Run]) -> int:
    """The weight of all that these runs may start."""
    return sum(
        may_start(snapshot, run)
        * workers_of(snapshot, run)
        * max(1, gpus_each(run))
        * weight_each(snapshot, run)
        for run in runs
    )


def _of_machine(snapshot: Snapshot, machine: Machine) -> Iterator[str]:
    devices = machine.devices
    age = (snapshot.now - (machine.reported_at or snapshot.now)).total_seconds()
    cores = sum(
        run.cpu_cores + len(worker.devices) * run.per_gpu.cpu_cores
        for run in snapshot.runs
        for worker in holding(snapshot, run)
        if worker.host == machine.name
    )
    yield machine.state
    yield from {device.health for device in devices}
    shown = {
        "stale": age > snapshot.policy.stale_after_s,
        "fresh to the second": age == snapshot.policy.stale_after_s,
        "used": machine.used.cpu_cores > 0,
        "reserved_for": machine.reserved_for,
        "capabilities": machine.capabilities,
        "only": machine.only,
        "labels": "zone" in machine.labels,
        "pool": "pool" in machine.labels,
        "max_accelerators": machine.constraints.max_accelerators is not None,
        "denied": machine.constraints.denied_devices,
        "mixed": len({device.model for device in devices}) > 1,
        "no vendor": any(device.vendor is None for device in devices),
        "no GPUs": not devices,
        "no capacity": not (machine.cpu_cores or machine.memory_bytes or devices),
        "rdma": machine.rdma,
        "clique": any(device.nvlink_clique for device in devices),
        "overcommitted": cores + machine.used.cpu_cores > machine.cpu_cores,
        "ids of its own": any("/" not in device.id for device in devices),
        "cpu_pressure": machine.cpu_pressure,
    }
    yield from (feature for feature, is_shown in shown.items() if is_shown)


def _of_run(snapshot: Snapshot, run: Run) -> Iterator[str]:
    yield run.state
    yield from _held(snapshot, run)
    if not is_waiting(snapshot, run):
        return
    yield from refusals(snapshot, run)
    for machine in snapshot.fleet.machines:
        yield from barred(snapshot, machine, run)
    yield from _asked(snapshot, run)
    selection, is_cpu = run.node_selection, not gpus_each(run) and not run.array
    waited = (snapshot.now - (run.submitted_at or snapshot.now)).total_seconds()
    twins = [other.model_copy(update={"name": run.name}) for other in snapshot.runs]
    held = gpus_held(snapshot, run.workspace)
    shown = {
        "gang of exact": is_cpu and selection.mode == "exact" and selection.count in (2, 3),
        "gang of any": is_cpu and selection.mode == "any" and selection.count in (2, 3),
        "all": selection.mode == "all",
        "names exact": is_cpu and selection.mode == "exact" and selection.names,
        "names any": selection.mode == "any" and selection.names,
        "names and count": selection.names and selection.count,
        "machines": (run.machines or 0) > 1,
        "match_labels": selection.match_labels,
        "waited": waited > 0,
        "waited for longest": waited >= 8 * snapshot.policy.ageing_s,
        "submitted later": waited < 0,
        "priority": run.priority != 0,
        "over its quota": not is_within_quota(snapshot, run, gpus_each(run), held),
        "twins": twins.count(run) > 1,
    }
    yield from (feature for feature, is_shown in shown.items() if is_shown)


def _held(snapshot: Snapshot, run: Run) -> Iterator[str]:
    machines = {machine.name: machine for machine in snapshot.fleet.machines}
    workers = holding(snapshot, run)
    there = [(machines[each.host], each) for each in workers if each.host in machines]
    limit = run.array.max_parallel if run.array else None
    shown = {
        "superseded": is_superseded(snapshot, run),
        "on two hosts": not run.array and len({worker.host for worker in workers}) > 1,
        "host gone": len(there) < len(workers),
        "GPU gone": any(
            not {device.id for device in machine.devices}.issuperset(worker.devices)
            for machine, worker in there
        ),
        "host stale": any("stale" in _of_machine(snapshot, machine) for machine, _ in there),
        "array": run.array,
        "array that runs": run.array and workers,
        "pending array that runs": run.array and workers and run.state == "pending",
        "finished": run.array and run.array.finished,
        "max_parallel": limit is not None,
        "full array": is_waiting(snapshot, run) and not may_start(snapshot, run),
    }
    yield from (feature for feature, is_shown in shown.items() if is_shown)


def _asked(snapshot: Snapshot, run: Run) -> Iterator[str]:
    gpus = run.gpus
    shown = {
        "needs": run.needs,
        "drives": run.drives,
        "need_bytes": any(drive.need_bytes for drive in run.drives),
        "time_limit_s": run.time_limit_s,
        "models": gpus.models,
        "vendor": gpus.vendor,
        "min_memory_gb": gpus.min_memory_gb,
        "healthy_only": gpus.healthy_only,
        "pinned": gpus.ids,
        "min_per_machine": gpus.min_per_machine,
        "fractions": (run.cpu_cores + run.per_gpu.cpu_cores) % 1,
        "asks for nothing": not (gpus.count or run.cpu_cores or run.memory_bytes),
    }
    yield from (feature for feature, is_shown in shown.items() if is_shown)
