"""Where machines stand, how tightly a set of them is joined, and the ladder of such groups.

The rungs, from the tightest: 1 one machine; 2 one NVLink domain; 3 one InfiniBand fabric and one
rack; 4 one InfiniBand fabric; 5 RDMA (RoCE, or InfiniBand whose fabric is only assumed) and one
rack; 6 RDMA; 7 one rack; 8 one site. No group spans sites.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from stowplan.model.fleet import Interconnect, Machine, Port
from stowplan.model.snapshot import Snapshot

Unit = Literal["node", "nvlink_domain", "fabric", "rack"]
"""What `keep_within` and `spread` can name."""

MACHINE, DOMAIN, FABRIC_RACK, FABRIC, RDMA_RACK, RDMA, RACK, SITE = range(1, 9)
"""The rungs."""
ACROSS = SITE + 1
"""In place of a rung: machines of several sites."""

RUNG_WORDS: Mapping[int, str] = {
    MACHINE: "one machine",
    DOMAIN: "one NVLink domain",
    FABRIC_RACK: "one InfiniBand fabric in one rack",
    FABRIC: "one InfiniBand fabric",
    RDMA_RACK: "RDMA in one rack",
    RDMA: "RDMA",
    RACK: "Ethernet in one rack",
    SITE: "Ethernet",
}
"""The rungs, as they are written."""

RDMA_WORDS: Mapping[Interconnect, str] = {"infiniband": "InfiniBand", "roce": "RoCE"}
"""The kinds of RDMA, as they are written."""


def site_of(machine: Machine, prefix: str) -> str | None:
    """Return the site: the label, else the machine's network."""
    return machine.labels.get(f"{prefix}site", machine.network)


def rack_of(machine: Machine, prefix: str) -> str | None:
    """Return the rack, by its label."""
    return machine.labels.get(f"{prefix}rack")


def fabric_of(machine: Machine, prefix: str) -> str | None:
    """Return the fabric: the label, else the InfiniBand subnet that a port that is up reports."""
    return machine.labels.get(f"{prefix}fabric", _subnet(machine))


def _subnet(machine: Machine) -> str | None:
    return _subnet_of(_up(machine))


def _up(machine: Machine, min_gbps: float = 0) -> list[Port]:
    return [port for port in machine.rdma if port.state == "up" and port.rate_gbps >= min_gbps]


def _subnet_of(ports: Iterable[Port]) -> str | None:
    subnets = (port.subnet for port in ports if port.kind == "infiniband")
    return next((subnet for subnet in subnets if subnet), None)


def cliques_of(machine: Machine) -> frozenset[str]:
    """Return the NVLink domains that its GPUs report."""
    return frozenset(device.nvlink_clique for device in machine.devices if device.nvlink_clique)


def has_rdma(machine: Machine) -> bool:
    """Whether an RDMA port of the machine is up."""
    return any(port.state == "up" for port in machine.rdma)


def are_near(one: Machine, other: Machine, prefix: str) -> bool:
    """Whether two machines share a rack, a fabric or an NVLink domain."""
    for place in (rack_of, fabric_of):
        here = place(one, prefix)
        if here is not None and here == place(other, prefix):
            return True
    return bool(cliques_of(one) & cliques_of(other))


class Fabric(NamedTuple):
    """An RDMA network."""

    kind: Interconnect
    name: str
    is_assumed: bool
    """Whether all machines with such ports count as one, for none of the fleet has a label."""

    @property
    def is_firm(self) -> bool:
        """Whether it is InfiniBand that is known to be one fabric."""
        return self.kind == "infiniband" and not self.is_assumed

    @property
    def word(self) -> str:
        """The kind, as it is written."""
        return RDMA_WORDS[self.kind]

    @property
    def words(self) -> str:
        """What it is called, in words."""
        return (
            f"{self.word}, taken as one fabric"
            if self.is_assumed
            else f"{self.word} fabric {self.name}"
        )


class Spot(NamedTuple):
    """Where a machine stands."""

    site: str | None
    rack: str | None
    domain: str | None
    """The NVLink domain of all its GPUs, those that have failed aside."""
    fabrics: tuple[Fabric, ...]
    """The RDMA networks that its ports that are up (and fast enough) are on, InfiniBand first."""
    unit: str | None
    """The fabric that `keep_within` and `spread` read."""

    def of(self, unit: Unit) -> str | None:
        """Return what of this kind it is in, or None where that isn't known."""
        return _in_unit(self, unit)


def _in_unit(place: Spot | Joint, unit: Unit) -> str | None:
    match unit:
        case "nvlink_domain":
            return place.domain
        case "fabric":
            return place.unit
        case "rack":
            return place.rack
        case "node":
            return None


def spots_of(snapshot: Snapshot, min_gbps: float = 0) -> dict[str, Spot]:
    """Return where each machine stands, by its name.

    A run that asks for a speed uses no slower port: with `min_gbps` only ports as fast put a
    machine on an RDMA network. What `keep_within` and `spread` read is the same at any speed.
    """
    prefix = snapshot.policy.topology_prefix
    machines = snapshot.fleet.machines
    none_labelled = not any(f"{prefix}fabric" in each.labels for each in machines)
    return {each.name: _spot(each, prefix, none_labelled, min_gbps) for each in machines}


def _spot(machine: Machine, prefix: str, none_labelled: bool, min_gbps: float) -> Spot:
    label, up = machine.labels.get(f"{prefix}fabric"), _up(machine)
    assumed = next((own.name for own in _fabrics(up, label, none_labelled) if own.is_assumed), None)
    return Spot(
        site=site_of(machine, prefix),
        rack=rack_of(machine, prefix),
        domain=_domain(machine),
        fabrics=_fabrics(_up(machine, min_gbps), label, none_labelled),
        unit=label or _subnet_of(up) or assumed,
    )


def _fabrics(ports: Collection[Port], label: str | None, none_labelled: bool) -> tuple[Fabric, ...]:
    """Return the networks on which these ports put a machine."""
    kinds = {port.kind for port in ports}
    named: tuple[tuple[Interconnect, str | None], ...] = (
        ("infiniband", label or _subnet_of(ports)),
        ("roce", label),
    )
    return tuple(
        Fabric(kind, name or kind, is_assumed=not name)
        for kind, name in named
        if kind in kinds and (name or none_labelled)
    )


def _domain(machine: Machine) -> str | None:
    told = {each.nvlink_clique for each in machine.devices if each.health != "faulted"}
    return next(iter(told)) if len(told) == 1 else None


@dataclass(frozen=True)
class Joint:
    """What joins all of some machines; nothing does across sites."""

    sites: int
    """In how many they are."""
    site: str | None
    rack: str | None
    domain: str | None
    fabrics: tuple[Fabric, ...]
    unit: str | None

    @classmethod
    def of(cls, spots: Sequence[Spot]) -> Joint:
        """Return what all of them share."""
        first, sites = spots[0], len({each.site for each in spots})
        if sites > 1:
            return cls(sites, None, None, None, (), None)
        return cls(
            sites=1,
            site=first.site,
            rack=_shared(each.rack for each in spots),
            domain=_shared(each.domain for each in spots),
            fabrics=tuple(own for own in first.fabrics if all(own in s.fabrics for s in spots)),
            unit=_shared(each.unit for each in spots),
        )

    @cached_property
    def rung(self) -> int:
        """How tightly they are joined, as several machines: 2 to 8."""
        if self.domain is not None:
            return DOMAIN
        if self.link:
            in_rack, across = (FABRIC_RACK, FABRIC) if self.link.is_firm else (RDMA_RACK, RDMA)
            return in_rack if self.rack is not None else across
        return RACK if self.rack is not None else SITE

    def shared(self, unit: Unit) -> str | None:
        """Return what of this kind all of them are in, or None where they aren't in one."""
        return _in_unit(self, unit)

    @property
    def link(self) -> Fabric | None:
        """The best RDMA network that they share: InfiniBand that is known as one before others."""
        ranked = sorted(self.fabrics, key=lambda each: (each.is_assumed, each.kind))
        return next((own for own in ranked if own.kind == "infiniband"), next(iter(ranked), None))

    @property
    def has_rdma(self) -> bool:
        """Whether they share an RDMA network."""
        return bool(self.fabrics)

    @property
    def has_infiniband(self) -> bool:
        """Whether they share an InfiniBand network, if only an assumed one."""
        return any(each.kind == "infiniband" for each in self.fabrics)

    @property
    def name(self) -> str | None:
        """What the group is called in a decision."""
        link = self.link.name if self.link else None
        match self.rung:
            case 2:
                return self.domain
            case 3 | 5:
                return f"{link}/{self.rack}"
            case 4 | 6:
                return link
            case 7:
                return self.rack
            case _:
                return self.site

    @property
    def words(self) -> str:
        """What joins them, in words."""
        rack = f", rack {self.rack}" if self.rack is not None else ""
        if self.rung == DOMAIN:
            return f"in NVLink domain {self.domain}"
        if self.link:
            return f"on {self.link.words}{rack}"
        if self.rung == RACK:
            return f"over Ethernet in rack {self.rack}"
        return f"over Ethernet{f' in site {self.site}' if self.site is not None else ''}"


def _shared(values: Iterable[str | None]) -> str | None:
    told = set(values)
    return next(iter(told)) if len(told) == 1 else None


def groups_of(
    spots: Mapping[str, Spot], within: Unit | None = None
) -> tuple[tuple[Joint, tuple[str, ...]], ...]:
    """Return every group of several machines that something joins, with their names.

    On each rung that is what the rung counts: NVLink domains on 2, InfiniBand fabrics in a rack
    on 3, and so on. All machines of a fabric may be in one domain: then it is no group, for a run
    there is on rung 2, and the domain its group. The tightest come first; last those across sites,
    which no run may be on. With `within`, only groups inside one such unit (not `node`: no two
    machines are in one).
    """
    across = len({spot.site for spot in spots.values()}) > 1
    members: dict[tuple[str, ...], Joint] = {}
    by_key: dict[tuple[int, object], list[str]] = {}
    for name, spot in spots.items():
        if within and spot.of(within) is None:
            continue
        kept = spot.of(within) if within else None
        if across:
            by_key.setdefault((ACROSS, kept), []).append(name)
        for rung, key in _keys(spot):
            by_key.setdefault((rung, (spot.site, kept, key)), []).append(name)
    for (rung, _), names in by_key.items():
        if len(names) > 1:
            own = tuple(sorted(names))
            joint = Joint.of([spots[name] for name in own])
            if rung == (joint.rung if joint.sites == 1 else ACROSS):
                members.setdefault(own, joint)
    ordered = sorted(members.items(), key=lambda pair: (pair[1].sites > 1, pair[1].rung, pair[0]))
    return tuple((joint, names) for names, joint in ordered)


def _keys(spot: Spot) -> Iterator[tuple[int, object]]:
    """Yield the rungs on which a machine is in a group, and what tells it apart in its site."""
    yield SITE, None
    if spot.rack is not None:
        yield RACK, spot.rack
    if spot.domain is not None:
        yield DOMAIN, spot.domain
    for own in spot.fabrics:
        in_rack, over_racks = (FABRIC_RACK, FABRIC) if own.is_firm else (RDMA_RACK, RDMA)
        yield over_racks, own
        if spot.rack is not None:
            yield in_rack, (own, spot.rack)
