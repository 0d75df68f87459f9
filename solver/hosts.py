"""Hosts as the rules see them: what doesn't change in a cycle.

A host is a machine; or the instances of an offering that can be had, which are all alike. Those
that are warm are a host of their own.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from stowplan.model.decision import HostKind
from stowplan.model.estimating.tariff import Tariff
from stowplan.model.fleet import Machine, Offering
from stowplan.model.room import Room
from stowplan.model.topology import Spot
from stowplan.model.types import Labels
from stowplan.solver.lots import Lot

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
    """A machine or an offering, its lots of GPUs, what is free there, and what it can reach."""

    name: str
    """The machine's, or the offering's."""
    machine: Machine
    """Of an offering: what an instance will be."""
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
    """What would be free with no run here and nothing used by others; and of an offering, were it
    not sold out."""
    bookings: tuple[Booking, ...]
    drives: Mapping[str, Reach]
    sort: int
    """Hosts of one sort are the same to every rule, its words too, but for what is free there."""
    family: int
    """Hosts of one family fail the same rules for every run, if not in the same words; but for
    rules that read prices."""
    tariff: Tariff
    accelerators: str | None
    """The family of its GPUs, where that is known."""
    offering: Offering | None = None
    instances: tuple[str, ...] = ()
    """Of an offering: the names that its instances would have."""
    spot: Spot | None = None
    """Of a machine: where it stands."""
    place: int = 0
    """Its place among all hosts."""
    matching: dict[object, tuple[Lot, ...]] = field(default_factory=dict, repr=False)
    """The lots that are what an ask wants, by ask: remembered by `solver.matching`."""

    @property
    def kind(self) -> HostKind:
        """Whether it exists or can be bought."""
        return "offering" if self.offering else "machine"

    @property
    def is_warm(self) -> bool:
        """Whether it is idle instances of an offering that are yours already."""
        return self.offering is not None and self.tariff.is_running

    @property
    def is_assumed(self) -> bool:
        """Whether it is of an offering of which nobody says how many instances are available."""
        return self.offering is not None and self.offering.available is None and not self.is_warm

    @property
    def availability(self) -> tuple[bool, int]:
        """What rules say of how many instances there are: whether that is assumed, and how many
        where it is; else whether there are any."""
        there = self.start.instances
        return self.is_assumed, there if self.is_assumed else int(there > 0)

    def less(self, room: Room, millicores: int, memory_bytes: int, gpus: frozenset[str]) -> Room:
        """Return what is left of room here when a worker takes this much: or a whole instance."""
        if self.offering:
            return replace(room, instances=room.instances - 1)
        return room.less(millicores, memory_bytes, gpus)

    def more(self, room: Room, millicores: int, memory_bytes: int, gpus: frozenset[str]) -> Room:
        """Return the room with what a worker takes given back."""
        if self.offering:
            return replace(room, instances=room.instances + 1)
        return Room(
            room.millicores + millicores, room.memory_bytes + memory_bytes, room.devices | gpus
        )
