"""The groups of machines that a run of several workers may be on, and what is free in each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from stowplan.model.snapshot import Snapshot
from stowplan.model.topology import MACHINE, SITE, Joint, Spot, Unit, groups_of, spots_of
from stowplan.model.vicinity import Scope, Transport
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host

type Ints = npt.NDArray[np.int64]


BOUGHT = SITE + 1
"""In place of a rung: of instances it isn't known how tightly they are joined."""


_UNKNOWN = Joint(1, None, None, None, (), None)


class Vicinity(NamedTuple):
    """How near instances of offerings are to each other."""

    scope: Scope
    transport: Transport
    name: str


@dataclass(frozen=True, eq=False)
class Group:
    """Machines that a run's workers may be on together; or offerings, of which each worker has an
    instance of its own."""

    joint: Joint
    """What joins them; of offerings nothing that is known."""
    rung: int
    hosts: Ints
    """Their places among all hosts, ascending."""
    free: int
    """Their GPUs that are free at the start of the cycle; of one machine those of its NVLink
    domain, none where it is in none."""
    number: int
    """Its place among the groups of its ladder."""
    vicinity: Vicinity | None = None
    """Of offerings: where they are."""

    @classmethod
    def bought(cls, vicinity: Vicinity, hosts: Ints, number: int) -> Self:
        """Return a group of offerings."""
        return cls(_UNKNOWN, BOUGHT, hosts, 0, number, vicinity)

    @property
    def is_bought(self) -> bool:
        """Whether it is of offerings."""
        return self.vicinity is not None

    def left(self, gpus: int) -> int:
        """Return what a run with so many GPUs leaves free; 0 where that is of no group: on a
        machine in no NVLink domain, or bought."""
        is_of_none = self.rung > SITE or (self.rung == MACHINE and self.joint.domain is None)
        return 0 if is_of_none else self.free - gpus

    @cached_property
    def members(self) -> frozenset[int]:
        """The places of its hosts."""
        return frozenset(self.hosts.tolist())


@dataclass(frozen=True)
class Ladder:
    """All groups, the tightest first."""

    snapshot: Snapshot
    hosts: Sequence[Host]
    _spots: dict[float, Mapping[str, Spot]] = field(default_factory=dict)
    _groups: dict[tuple[Unit | None, float], tuple[Group, ...]] = field(default_factory=dict)
    _units: dict[Unit, Ints] = field(default_factory=dict)

    @cached_property
    def free(self) -> Ints:
        """By host: the GPUs that are free at the start and could be used, were nothing in the way.

        None of a machine that is out of service, and none of offerings.
        """
        found = np.zeros(len(self.hosts), np.int64)
        for place, host in enumerate(self.hosts):
            if not host.offering and host.machine.state == "up" and host.fresh:
                found[place] = sum(
                    lot.free(host.start) for lot in host.lots if lot.condition != "faulted"
                )
        return found

    @cached_property
    def spots(self) -> Mapping[str, Spot]:
        """Where each machine stands, by its name."""
        return self.spots_at(None)

    def spots_at(self, min_gbps: float | None) -> Mapping[str, Spot]:
        """Return where each stands for runs that use no slower ports, by its name."""
        least = self._step(min_gbps)
        if least not in self._spots:
            self._spots[least] = spots_of(self.snapshot, least)
        return self._spots[least]

    def _step(self, min_gbps: float | None) -> float:
        """Return the slowest rate of the fleet that is as fast: it tells the same ports apart."""
        if not min_gbps or min_gbps <= min(self._rates, default=0):
            return 0
        return min((rate for rate in self._rates if rate >= min_gbps), default=math.inf)

    @cached_property
    def _rates(self) -> frozenset[float]:
        machines = self.snapshot.fleet.machines
        return frozenset(float(port.rate_gbps) for each in machines for port in each.rdma)

    @cached_property
    def _place_of(self) -> dict[str, int]:
        return {host.name: place for place, host in enumerate(self.hosts) if not host.offering}

    def groups(self, within: Unit | None, min_gbps: float | None = None) -> tuple[Group, ...]:
        """Return the groups of more than one machine; with `within` those inside one such unit,
        with `min_gbps` as joined by ports that are as fast."""
        key = (within, self._step(min_gbps))
        if key not in self._groups:
            self._groups[key] = () if within == "node" else self._found(within, min_gbps)
        return self._groups[key]

    def _found(self, within: Unit | None, min_gbps: float | None) -> tuple[Group, ...]:
        found = groups_of(self.spots_at(min_gbps), within)
        return tuple(
            self._group(joint, joint.rung, names, number)
            for number, (joint, names) in enumerate(found)
        )

    def _group(self, joint: Joint, rung: int, names: Sequence[str], number: int) -> Group:
        hosts = np.sort(np.array([self._place_of[name] for name in names], np.int64))
        return Group(joint, rung, hosts, int(self.free[hosts].sum()), number)

    @cached_property
    def sites(self) -> tuple[Group, ...]:
        """All machines of each site."""
        members: dict[str | None, list[str]] = {}
        for name, spot in self.spots.items():
            members.setdefault(spot.site, []).append(name)
        return tuple(
            self._group(Joint.of([self.spots[name] for name in names]), SITE, names, number)
            for number, names in enumerate(members.values())
        )

    @cached_property
    def machines(self) -> tuple[Group, ...]:
        """Each machine as a group of its own: for workers that may share one."""
        found: list[Group] = []
        for number, (name, spot) in enumerate(self.spots.items()):
            place = self._place_of[name]
            free = max(0, int(self.room_of_one[place]))
            hosts = np.array([place], np.int64)
            found.append(Group(Joint.of([spot]), MACHINE, hosts, free, number))
        return tuple(found)

    @cached_property
    def offered(self) -> npt.NDArray[np.bool_]:
        """By host: whether it is an offering: each of its instances is a host of its own."""
        return np.array([host.offering is not None for host in self.hosts], np.bool_)

    def workers(self, ask: Ask, hosts: Ints, slots: Ints) -> int:
        """Return how many workers of one run these hosts take at once, if each takes so many."""
        if ask.spread in ("rack", "fabric"):
            return len(np.unique(self.units(ask.spread)[hosts][slots > 0]))
        tasks = ask.tasks or 0
        most = np.where(self.offered[hosts] | ask.may_share, tasks, 1)
        return int(np.minimum(slots, most).sum())

    def units(self, kind: Unit) -> Ints:
        """Return by host the number of the rack, say, that it is in; -1 where that isn't known."""
        if kind not in self._units:
            numbers: dict[tuple[str | None, str], int] = {}
            found = np.full(len(self.hosts), -1, np.int64)
            for name, spot in self.spots.items():
                if (unit := spot.of(kind)) is not None:
                    number = numbers.setdefault((spot.site, unit), len(numbers))
                    found[self._place_of[name]] = number
            self._units[kind] = found
        return self._units[kind]

    @cached_property
    def has_domains(self) -> bool:
        """Whether any machines are in NVLink domains."""
        return bool((self.room_of_one >= 0).any())

    @cached_property
    def room_of_one(self) -> Ints:
        """By host: the free GPUs of the NVLink domain that it is in, within its site; else -1."""
        found = np.full(len(self.hosts), -1, np.int64)
        members: dict[tuple[str | None, str], list[int]] = {}
        for name, spot in self.spots.items():
            if spot.domain is not None:
                members.setdefault((spot.site, spot.domain), []).append(self._place_of[name])
        for places in members.values():
            found[places] = self.free[places].sum()
        return found
