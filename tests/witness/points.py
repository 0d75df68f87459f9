"""Points, in thousandths: which of two machines is the better one for a worker."""

from __future__ import annotations

from collections.abc import Sequence

from stowplan.model.fleet import Machine
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.witness.asked import cores_each, gpus_each, memory_each
from tests.witness.machines import Room


def points(
    snapshot: Snapshot, machine: Machine, room: Room, there: Sequence[tuple[Run, int]]
) -> int:
    """The points of all workers that a machine gets, at-risk GPUs left out of account.

    `room` is what was free at the start; `there` are runs with their number of workers here.
    """
    return sum(count * points_each(snapshot, machine, room, there, run) for run, count in there)


def points_each(
    snapshot: Snapshot,
    machine: Machine,
    room: Room,
    there: Sequence[tuple[Run, int]],
    run: Run,
) -> int:
    """The points of one of the workers, in the company of all that the machine gets."""
    total = 0
    if machine.reserved_for:
        total += 100_000 - 5_000 * len(machine.reserved_for)
    if gpus_each(run):
        held = len(machine.devices) - len(room.devices)
        given = sum(count * gpus_each(other) for other, count in there)
        total += 50_000 // len(machine.devices) * (held + given)
    elif machine.devices:
        total -= 30_000
    cores = [(cores_each(other, gpus_each(other)), count) for other, count in there]
    total += _left(room.cores, round(machine.cpu_cores * 1000), cores)
    memory = [(memory_each(other, gpus_each(other)), count) for other, count in there]
    total += _left(room.memory, machine.memory_bytes, memory)
    if machine.cpu_pressure:
        total -= 20_000
    return total + sum(_nearness(snapshot, machine, ask.name) for ask in run.drives)


def _left(free: int, whole: int, asks: Sequence[tuple[int, int]]) -> int:
    """What is left free of cores or memory, as a share of the whole: up to 25 points."""
    if whole == 0:
        return 0
    return 25_000 * max(0, free) // whole - sum(
        count * (25_000 * ask // whole) for ask, count in asks
    )


def _nearness(snapshot: Snapshot, machine: Machine, name: str) -> int:
    homes = {drive.name: drive.machine for drive in snapshot.fleet.drives}
    if homes.get(name) == machine.name:
        return 40_000
    for other in snapshot.fleet.machines:
        if other.name == homes.get(name):
            if _are_joined(snapshot, machine, other):
                return 15_000
            if _has_rdma(machine) and _has_rdma(other):
                return 10_000
    return 0


def _are_joined(snapshot: Snapshot, machine: Machine, other: Machine) -> bool:
    for group in ("rack", "fabric"):
        key = snapshot.policy.topology_prefix + group
        if key in machine.labels and machine.labels[key] == other.labels.get(key):
            return True
    cliques, others = (
        {device.nvlink_clique for device in each.devices} - {None} for each in (machine, other)
    )
    return bool(cliques & others)


def _has_rdma(machine: Machine) -> bool:
    return any(port.state == "up" for port in machine.rdma)
