"""Machines as the rules see them: what doesn't change in a cycle, worked out once."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from stowplan.model.fleet import Drive, Machine
from stowplan.model.holds import is_fresh
from stowplan.model.room import Room, empty_room, free_room
from stowplan.model.snapshot import Snapshot
from stowplan.model.topology import are_near, has_rdma, site_of
from stowplan.model.types import Labels
from stowplan.solver.lots import Lot, lots_of

POOL = "pool"
"""The label that says in which pool a machine is."""


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
    sort: int
    """Hosts of one sort are the same to every rule, its words too, but for what is free there."""
    family: int
    """Hosts of one family fail the same rules for every run, if not in the same words."""
    matching: dict[object, tuple[Lot, ...]] = field(default_factory=dict, repr=False)
    """The lots that are what an ask wants, by ask: remembered by `solver.matching`."""

    @property
    def name(self) -> str:
        """The machine's name."""
        return self.machine.name


def hosts_of(snapshot: Snapshot) -> tuple[Host, ...]:
    """Return every machine of the fleet as a host, in the order of their names."""
    rooms = free_room(snapshot)
    told = _Told.by(snapshot)
    sorts: dict[Hashable, int] = {}
    families: dict[Hashable, int] = {}
    machines = sorted(snapshot.fleet.machines, key=lambda machine: machine.name)
    found = []
    for machine in machines:
        host, read = _host(machine, snapshot, rooms[machine.name], told)
        own = tuple((key, host.labels.get(key)) for key in told.labels)
        wanted = tuple(pair for pair in own if pair in told.wanted)
        words = (own, machine.state_reason, host.fresh or host.age_s)
        sort = sorts.setdefault((read, words), len(sorts))
        family = families.setdefault((read, wanted), len(families))
        found.append(replace(host, sort=sort, family=family))
    return tuple(found)


class _Told(NamedTuple):
    """What the runs name: only there do rules tell hosts that are otherwise alike apart."""

    machines: frozenset[str]
    devices: frozenset[str]
    wanted: frozenset[tuple[str, str | None]]
    """Labels, and the pools of workspaces."""
    labels: tuple[str, ...]
    """The keys of those labels."""

    @classmethod
    def by(cls, snapshot: Snapshot) -> _Told:
        runs = snapshot.runs
        wanted = {pair for run in runs for pair in run.node_selection.match_labels.items()}
        pools = (workspace.pools or () for workspace in snapshot.policy.workspaces)
        wanted |= {(POOL, pool) for own in pools for pool in own}
        return cls(
            frozenset(name for run in runs for name in run.node_selection.names),
            frozenset(device for run in runs for device in run.gpus.ids),
            frozenset(wanted),
            tuple(sorted({key for key, _ in wanted} | {POOL})),
        )


def _host(machine: Machine, snapshot: Snapshot, room: Room, told: _Told) -> tuple[Host, Hashable]:
    """Return a machine as a host, and what decides on it, beside its labels and its room."""
    age = snapshot.now - (machine.reported_at or snapshot.now)
    age_s = math.ceil(age.total_seconds())
    labels = {**machine.labels, **machine.reserved_for}
    fresh = is_fresh(machine, snapshot)
    lots = lots_of(machine, told.devices)
    empty = empty_room(machine)
    bookings = _bookings(machine, snapshot)
    drives = {drive.name: _reach(machine, drive, snapshot) for drive in snapshot.fleet.drives}
    read = (
        machine.name if machine.name in told.machines else None,
        machine.state,
        fresh,
        machine.only,
        machine.capabilities,
        tuple(sorted(machine.reserved_for.items())),
        machine.constraints.max_accelerators,
        machine.cpu_pressure,
        empty.millicores,
        empty.memory_bytes,
        tuple(lot.sort(told.devices) for lot in lots),
        bookings,
        tuple(drives.values()),
    )
    host = Host(
        machine=machine,
        labels=labels,
        age_s=age_s,
        stale_after_s=snapshot.policy.stale_after_s,
        fresh=fresh,
        lots=lots,
        start=room,
        empty=empty,
        bookings=bookings,
        drives=drives,
        sort=0,
        family=0,
    )
    return host, read


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
