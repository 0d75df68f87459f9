"""What is free on a machine, and what keeps a run off it; codes say which rule does."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from stowplan.model.decision import Decision
from stowplan.model.fleet import Device, Drive, Machine
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.witness.asked import cores_each, gpus_each, memory_each, taking


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


def barred(snapshot: Snapshot, machine: Machine, run: Run) -> list[str]:
    """Every code that keeps the run off the machine whatever the room, in the filters' order."""
    return [
        *not_ready(snapshot, machine, run),
        *not_chosen(snapshot, machine, run),
        *unfit(snapshot, machine, run),
    ]


def not_ready(snapshot: Snapshot, machine: Machine, run: Run) -> Iterator[str]:
    """Filters 1 and 2: why the machine takes no new work, or not this run's."""
    if machine.state == "down" or not (
        machine.cpu_cores or machine.memory_bytes or machine.devices
    ):
        yield "MACHINE_DOWN"
    age = snapshot.now - (machine.reported_at or snapshot.now)
    if age > dt.timedelta(seconds=snapshot.policy.stale_after_s):
        yield "HARDWARE_STALE"
    closed = {"pressure": "PRESSURE", "cordoned": "CORDONED", "draining": "DRAINING"}
    if machine.state in closed:
        yield "MACHINE_" + closed[machine.state]
    if not machine.reserved_for.items() <= run.node_selection.match_labels.items():
        yield "MACHINE_RESERVED"


def not_chosen(snapshot: Snapshot, machine: Machine, run: Run) -> Iterator[str]:
    """Filters 3 and 4: capabilities, names, labels, pools."""
    needs, only, selection = set(run.needs), set(machine.only), run.node_selection
    if not needs <= only | set(machine.capabilities) or (only and not needs & only):
        yield "CAPABILITY_MISSING"
    if selection.names and machine.name not in selection.names:
        yield "NOT_SELECTED"
    labels = {*machine.labels.items(), *machine.reserved_for.items()}
    if not labels.issuperset(selection.match_labels.items()):
        yield "LABEL_MISSING"
    if not in_pools(snapshot, machine, run):
        yield "POOL_MISMATCH"


def _drive_trouble(snapshot: Snapshot, machine: Machine, run: Run) -> Iterator[str]:
    drives = {drive.name: drive for drive in snapshot.fleet.drives}
    for ask in run.drives:
        drive = drives.get(ask.name)
        if drive is None:
            yield "DRIVE_MISSING"
        elif not reaches(snapshot, machine, drive):
            yield "DRIVE_UNREACHABLE"
        elif drive.free_bytes is not None and ask.need_bytes > drive.free_bytes:
            yield "DRIVE_FULL"


def unfit(snapshot: Snapshot, machine: Machine, run: Run) -> Iterator[str]:
    """Filters 10 and 11, and max_accelerators: drives and reservations."""
    most = machine.constraints.max_accelerators
    if most is not None and gpus_each(run) > most:
        yield "MAX_ACCELERATORS"
    if trouble := set(_drive_trouble(snapshot, machine, run)):
        yield min(trouble, key=("DRIVE_MISSING", "DRIVE_UNREACHABLE", "DRIVE_FULL").index)
    if is_reserved(snapshot, machine, run):
        yield "MACHINE_RESERVED"


def site_of(snapshot: Snapshot, machine: Machine) -> str | None:
    return machine.labels.get(snapshot.policy.topology_prefix + "site", machine.network)


def reaches(snapshot: Snapshot, machine: Machine, drive: Drive) -> bool:
    if drive.machine is None and not drive.sites:
        return True
    return drive.machine == machine.name or site_of(snapshot, machine) in drive.sites


def is_reserved(snapshot: Snapshot, machine: Machine, run: Run) -> bool:
    """Whether the machine is kept for another workspace, now or before the run is sure to end."""
    now, soon = snapshot.now, dt.timedelta(seconds=snapshot.policy.reservation_soon_s)
    limit = None if run.time_limit_s is None else dt.timedelta(seconds=run.time_limit_s)
    for each in snapshot.fleet.reservations:
        if machine.name not in each.machines or each.workspace == run.workspace:
            continue
        if each.from_ <= now < each.to:
            return True
        in_time = limit is not None and now + limit <= each.from_
        if now < each.from_ <= now + soon and not in_time:
            return True
    return False


def is_usable(machine: Machine, device: Device, run: Run) -> bool:
    """Whether a worker of the run may have the GPU, if it is free."""
    gpus = run.gpus
    if device.health == "faulted" or device.id in machine.constraints.denied_devices:
        return False
    if gpus.healthy_only and device.health == "at_risk":
        return False
    if gpus.models and not any(part.lower() in device.model.lower() for part in gpus.models):
        return False
    if gpus.vendor is not None and device.vendor != gpus.vendor:
        return False
    if gpus.min_memory_gb is not None:
        least = (Fraction(str(gpus.min_memory_gb)) - Fraction(1, 2)) * 10**9
        if device.memory_mib * 2**20 < least:
            return False
    return not gpus.ids or device.id in gpus.ids


def usable(machine: Machine, run: Run, room: Room) -> frozenset[str]:
    return room.devices & {each.id for each in machine.devices if is_usable(machine, each, run)}


def slots(snapshot: Snapshot, machine: Machine, run: Run, free: Mapping[str, Room]) -> int:
    """How many workers of the run the machine takes, counted no further than any test needs."""
    if any(barred(snapshot, machine, run)):
        return 0
    room, gpus = free[machine.name], gpus_each(run)
    most = 10**6
    if cores := cores_each(run, gpus):
        most = min(most, room.cores // cores)
    if memory := memory_each(run, gpus):
        most = min(most, room.memory // memory)
    if gpus:
        most = min(most, len(usable(machine, run, room)) // gpus)
    return max(0, most)
