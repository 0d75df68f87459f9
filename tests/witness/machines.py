"""What is free on a machine, and which of its GPUs would do for a run."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from stowplan.model.decision import Decision
from stowplan.model.fleet import Device, Drive, Machine
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.witness.asked import cores_each, memory_each, taking


def machine_named(snapshot: Snapshot, name: str) -> Machine:
    return next(machine for machine in snapshot.fleet.machines if machine.name == name)


@dataclass(frozen=True)
class Room:
    """What is free on a machine."""

    cores: int
    memory: int
    devices: frozenset[str]


def rooms(
    snapshot: Snapshot, decision: Decision | None = None, *, empty: bool = False
) -> dict[str, Room]:
    """What is free on each machine: at the start, or beside a decision, or with nothing on it."""
    free: dict[str, Room] = {}
    for machine in snapshot.fleet.machines:
        cores, memory = round(machine.cpu_cores * 1000), machine.memory_bytes
        devices = {device.id for device in machine.devices}
        if not empty:
            cores -= round(machine.used.cpu_cores * 1000)
            memory -= machine.used.memory_bytes
        free[machine.name] = Room(cores, memory, frozenset(devices))
    for run in () if empty else snapshot.runs:
        for worker in taking(snapshot, run, decision):
            if room := free.get(worker.host):
                free[worker.host] = Room(
                    room.cores - cores_each(run, len(worker.devices)),
                    room.memory - memory_each(run, len(worker.devices)),
                    room.devices - set(worker.devices),
                )
    return free


def in_pools(snapshot: Snapshot, machine: Machine, run: Run) -> bool:
    pools = [each.pools for each in snapshot.policy.workspaces if each.name == run.workspace]
    return (
        not pools
        or pools[0] is None
        or {**machine.labels, **machine.reserved_for}.get("pool") in pools[0]
    )


def checked(snapshot: Snapshot, run: Run) -> list[Machine]:
    """The machines that the run looks at: those of its pools, and those it names."""
    return [
        machine
        for machine in snapshot.fleet.machines
        if in_pools(snapshot, machine, run) or machine.name in run.node_selection.names
    ]


def site_of(snapshot: Snapshot, machine: Machine) -> str | None:
    return machine.labels.get(snapshot.policy.topology_prefix + "site", machine.network)


def reaches(snapshot: Snapshot, machine: Machine, drive: Drive) -> bool:
    if drive.machine is None and not drive.sites:
        return True
    return drive.machine == machine.name or site_of(snapshot, machine) in drive.sites


def is_usable(machine: Machine, device: Device, run: Run) -> bool:
    """Whether a worker of the run may have the GPU, if it is free."""
    if device.health == "faulted" or device.id in machine.constraints.denied_devices:
        return False
    if run.gpus.healthy_only and device.health == "at_risk":
        return False
    return is_as_asked(device, run) and (not run.gpus.ids or device.id in run.gpus.ids)


def is_as_asked(device: Device, run: Run) -> bool:
    """Whether the GPU is of the model, vendor and memory asked, whatever its condition."""
    return has_model(device, run) and has_vendor(device, run) and has_memory(device, run)


def has_model(device: Device, run: Run) -> bool:
    terms = run.gpus.models
    return not terms or any(part.lower() in device.model.lower() for part in terms)


def has_vendor(device: Device, run: Run) -> bool:
    return run.gpus.vendor in (None, device.vendor)


def has_memory(device: Device, run: Run) -> bool:
    if run.gpus.min_memory_gb is None:
        return True
    least = (Fraction(str(run.gpus.min_memory_gb)) - Fraction(1, 2)) * 10**9
    return device.memory_mib * 2**20 >= least


def usable(machine: Machine, run: Run, room: Room) -> frozenset[str]:
    return room.devices & {each.id for each in machine.devices if is_usable(machine, each, run)}
