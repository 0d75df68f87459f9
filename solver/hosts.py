"""Machines as the rules see them: what doesn't change in a cycle, worked out once."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from stowplan.model.fleet import Device, Drive, Machine, Vendor
from stowplan.model.holds import is_fresh
from stowplan.model.room import Room, empty_room, free_room
from stowplan.model.snapshot import Snapshot
from stowplan.model.topology import are_near, has_rdma, site_of
from stowplan.model.types import Labels

Condition = Literal["sound", "at_risk", "faulted"]


@dataclass(frozen=True)
class Lot:
    """GPUs of one machine that no rule tells apart."""

    ids: frozenset[str]
    model: str
    vendor: Vendor | None
    memory_mib: int
    condition: Condition
    """sound: shows no sign of failing (healthy, or of unknown health)."""
    denied: bool

    def free(self, room: Room) -> int:
        """How many of these GPUs are free."""
        return len(self.ids & room.devices)


@dataclass(frozen=True)
class Booking:
    """A reservation of the machine that is on, or begins soon."""

    name: str
    workspace: str
    begins: dt.datetime
    begins_in_s: int
    """0 or less: it is on."""


@dataclass(frozen=True)
class Reach:
    """A drive, seen from a machine."""

    free_bytes: int | None
    reachable: bool
    here: bool
    near: bool
    rdma: bool
    """Whether both this machine and the drive's have an RDMA port up."""


@dataclass(frozen=True, eq=False)
class Host:
    """A machine, its lots of GPUs, what is free on it at the start, and what it can reach."""

    machine: Machine
    labels: Labels
    """Its own and those it is reserved for."""
    age_s: int
    """Seconds since its last report."""
    stale_after_s: int
    fresh: bool
    lots: tuple[Lot, ...]
    start: Room
    """What is free at the start of the cycle."""
    empty: Room
    """What would be free with no run here and nothing used by others."""
    bookings: tuple[Booking, ...]
    drives: Mapping[str, Reach]
    matching: dict[object, tuple[Lot, ...]] = field(default_factory=dict, repr=False)
    """The lots that are what an ask wants, by ask: remembered by `solver.matching`."""

    @property
    def name(self) -> str:
        """The machine's name."""
        return self.machine.name


def hosts_of(snapshot: Snapshot) -> tuple[Host, ...]:
    """Return every machine of the fleet as a host, in the order of their names."""
    rooms = free_room(snapshot)
    pinned = frozenset(device for run in snapshot.runs for device in run.gpus.ids)
    machines = sorted(snapshot.fleet.machines, key=lambda machine: machine.name)
    return tuple(_host(machine, snapshot, rooms[machine.name], pinned) for machine in machines)


def _host(machine: Machine, snapshot: Snapshot, room: Room, pinned: frozenset[str]) -> Host:
    age = snapshot.now - (machine.reported_at or snapshot.now)
    return Host(
        machine=machine,
        labels={**machine.labels, **machine.reserved_for},
        age_s=math.ceil(age.total_seconds()),
        stale_after_s=snapshot.policy.stale_after_s,
        fresh=is_fresh(machine, snapshot),
        lots=_lots(machine, pinned),
        start=room,
        empty=empty_room(machine),
        bookings=_bookings(machine, snapshot),
        drives={drive.name: _reach(machine, drive, snapshot) for drive in snapshot.fleet.drives},
    )


def _lots(machine: Machine, pinned: Iterable[str]) -> tuple[Lot, ...]:
    denied = set(machine.constraints.denied_devices)
    alike: dict[tuple[object, ...], list[Device]] = {}
    for device in machine.devices:
        own = device.id if device.id in pinned else None
        condition = _condition(device)
        key = (device.model, device.vendor, device.memory_mib, condition, device.id in denied, own)
        alike.setdefault(key, []).append(device)
    lots = (
        Lot(
            ids=frozenset(device.id for device in devices),
            model=devices[0].model,
            vendor=devices[0].vendor,
            memory_mib=devices[0].memory_mib,
            condition=_condition(devices[0]),
            denied=devices[0].id in denied,
        )
        for devices in alike.values()
    )
    return tuple(sorted(lots, key=lambda lot: min(lot.ids)))


def _condition(device: Device) -> Condition:
    match device.health:
        case "at_risk" | "faulted":
            return device.health
        case _:
            return "sound"


def _bookings(machine: Machine, snapshot: Snapshot) -> tuple[Booking, ...]:
    soon = dt.timedelta(seconds=snapshot.policy.reservation_soon_s)
    return tuple(
        Booking(
            name=reservation.name,
            workspace=reservation.workspace,
            begins=reservation.from_.astimezone(dt.UTC),
            begins_in_s=int((reservation.from_ - snapshot.now).total_seconds()),
        )
        for reservation in sorted(snapshot.fleet.reservations, key=lambda each: each.name)
        if machine.name in reservation.machines
        and snapshot.now < reservation.to
        and reservation.from_ <= snapshot.now + soon
    )


def _reach(machine: Machine, drive: Drive, snapshot: Snapshot) -> Reach:
    prefix = snapshot.policy.topology_prefix
    here = drive.machine == machine.name
    anywhere = drive.machine is None and not drive.sites
    other = snapshot.machines.get(drive.machine) if drive.machine and not here else None
    return Reach(
        free_bytes=drive.free_bytes,
        reachable=here or anywhere or site_of(machine, prefix) in drive.sites,
        here=here,
        near=other is not None and are_near(machine, other, prefix),
        rdma=other is not None and has_rdma(machine) and has_rdma(other),
    )
