"""The fleet as hosts: every machine, and every offering that could be bought, worked out once."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import NamedTuple

from stowplan.model.estimating.duration import family_of
from stowplan.model.estimating.hosts import machine_tariffs
from stowplan.model.estimating.tariff import Tariff, offering_tariff
from stowplan.model.fleet import Drive, Machine, Offering
from stowplan.model.holds import is_fresh
from stowplan.model.instances import as_machine, instance_names, instances_of, sites_of, warm_name
from stowplan.model.room import Room, empty_room, free_room
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from stowplan.model.topology import Spot, Unit, are_near, has_rdma, site_of, spots_of
from stowplan.solver.hosts import POOL, Booking, Host, Reach
from stowplan.solver.lots import Lot, lots_of


def hosts_of(snapshot: Snapshot) -> tuple[Host, ...]:
    """Return every machine, then every offering, as a host: each in the order of their names."""
    told = _Told.by(snapshot)
    sorts: dict[Hashable, int] = {}
    families: dict[Hashable, int] = {}
    found: list[Host] = []
    for host, read in (*_machines(snapshot, told), *_offerings(snapshot, told)):
        own = tuple((key, host.labels.get(key)) for key in told.labels)
        wanted = tuple(pair for pair in own if pair in told.wanted)
        words = (own, host.machine.state_reason, host.fresh or host.age_s)
        sort = sorts.setdefault((read, words), len(sorts))
        family = families.setdefault((read, wanted), len(families))
        found.append(replace(host, sort=sort, family=family, place=len(found)))
    return tuple(found)


class _Told(NamedTuple):
    """What the runs name: only there do rules tell hosts that are otherwise alike apart."""

    machines: frozenset[str]
    devices: frozenset[str]
    wanted: frozenset[tuple[str, str | None]]
    """Labels, and the pools of workspaces."""
    labels: tuple[str, ...]
    """The keys of those labels."""
    units: tuple[Unit, ...]
    """In which of these a machine is, or whether that isn't known."""
    ports: bool
    """Whether some run reads the RDMA ports."""

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
            tuple(sorted({unit for run in runs for unit in _units(run) if unit})),
            any(run.network.min_gbps or run.network.interconnect != "auto" for run in runs),
        )


def _units(run: Run) -> tuple[Unit | None, ...]:
    return (run.topology.keep_within, run.topology.spread)


type _Read = tuple[Host, Hashable]
"""A host, and what decides on it, beside its labels, its room and its price."""


def _machines(snapshot: Snapshot, told: _Told) -> Iterator[_Read]:
    rooms, tariffs, spots = free_room(snapshot), machine_tariffs(snapshot), spots_of(snapshot)
    for machine in sorted(snapshot.fleet.machines, key=lambda each: each.name):
        name = machine.name
        yield _host(machine, snapshot, rooms[name], told, tariffs[name], spots[name])


def _host(
    machine: Machine, snapshot: Snapshot, room: Room, told: _Told, tariff: Tariff, spot: Spot
) -> _Read:
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
        tuple(spot.of(unit) is None for unit in told.units),
        tuple((each.kind, each.rate_gbps, each.state) for each in machine.rdma if told.ports),
    )
    host = Host(
        name=machine.name,
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
        tariff=tariff,
        accelerators=_accelerators(machine, snapshot),
        spot=spot,
    )
    return host, read


def _offerings(snapshot: Snapshot, told: _Told) -> Iterator[_Read]:
    """Yield the instances of each offering that could be created, and those that are warm."""
    shapes: dict[Hashable, _Shape] = {}
    for offering in sorted(snapshot.fleet.offerings, key=lambda each: each.name):
        key = (offering.accelerator, offering.cpu_cores, offering.memory_bytes)
        if key not in shapes:
            shapes[key] = _Shape.of(offering)
        shape, there = shapes[key], instances_of(offering, snapshot.policy)
        names = tuple(instance_names(offering.name, there.number, snapshot.machines))
        sites = sites_of(offering)
        drives = {drive.name: _reach_from(sites, drive) for drive in snapshot.fleet.drives}
        warm, cold = names[: there.warm], names[there.warm :]
        for own, is_warm in ((cold, False), (warm, True)):
            if is_warm and not warm:
                continue
            host = Host(
                name=warm_name(offering.name) if is_warm else offering.name,
                machine=shape.machine,
                labels={},
                age_s=0,
                stale_after_s=snapshot.policy.stale_after_s,
                fresh=True,
                lots=shape.lots,
                start=replace(shape.room, instances=len(own)),
                empty=replace(shape.room, instances=max(1, len(own))),
                bookings=(),
                drives=drives,
                sort=0,
                family=0,
                tariff=offering_tariff(offering, snapshot.now, is_warm=is_warm),
                accelerators=_accelerators(offering, snapshot),
                offering=offering,
                instances=own,
            )
            yield host, (key, tuple(drives.values()))


def _accelerators(host: Machine | Offering, snapshot: Snapshot) -> str | None:
    """Return the family of a host's GPUs, where there are histories that tell families apart."""
    return family_of(host, snapshot.knowledge.cards) if snapshot.knowledge.durations else None


class _Shape(NamedTuple):
    """What offerings of the same size have in common."""

    machine: Machine
    lots: tuple[Lot, ...]
    room: Room

    @classmethod
    def of(cls, offering: Offering) -> _Shape:
        machine = as_machine(offering)
        nominal = offering.accelerator.memory_gb if offering.accelerator else None
        return cls(machine, lots_of(machine, (), nominal), empty_room(machine))


def _reach_from(sites: frozenset[str], drive: Drive) -> Reach:
    """Return a drive as it is seen from an offering's sites."""
    anywhere = drive.machine is None and not drive.sites
    reachable = anywhere or not sites.isdisjoint(drive.sites)
    return Reach(drive.free_bytes, reachable, here=False, near=False, rdma=False)


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
