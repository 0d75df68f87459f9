"""Where machines stand, as the audit itself reads it, and how tightly a set of them is joined.

The rungs, from the tightest: 1 one machine; 2 one NVLink domain; 3 one InfiniBand fabric and one
rack; 4 one InfiniBand fabric; 5 RDMA of another kind, or assumed, and one rack; 6 such RDMA; 7 one
rack; 8 one site.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Literal, NamedTuple

from stowplan.model.fleet import Interconnect, Machine, Port
from stowplan.model.snapshot import Snapshot

type Unit = Literal["nvlink_domain", "fabric", "rack"]

LADDER = range(2, 9)
"""The rungs of several machines."""


class Fabric(NamedTuple):
    """An RDMA network; where it is assumed, all ports of a kind are taken as on one."""

    kind: Interconnect
    name: str
    is_assumed: bool

    @property
    def is_firm(self) -> bool:
        """Whether it is InfiniBand, and known to be one fabric."""
        return self.kind == "infiniband" and not self.is_assumed


class Place(NamedTuple):
    """Where a machine stands."""

    site: str | None
    rack: str | None
    domain: str | None
    """The NVLink domain of all its GPUs, the faulted ones aside."""
    fabrics: frozenset[Fabric]
    """The RDMA networks on which a port of it is up, and as fast as is asked."""
    fabric: str | None
    """The one fabric that it counts to, for `keep_within` and `spread`."""

    def unit(self, kind: Unit) -> str | None:
        """Return the unit of this kind that it is in; None where nothing says which."""
        named = {"nvlink_domain": self.domain, "fabric": self.fabric, "rack": self.rack}
        return named[kind]

    def circles(self, rung: int) -> Iterator[tuple[Fabric | None, object]]:
        """Yield what tells apart the widest sets on this rung: their network, and a key."""
        if rung == 2 and self.domain is not None:
            yield None, self.domain
        elif 3 <= rung <= 6:
            in_rack = rung in (3, 5)
            for fabric in self.fabrics if self.rack is not None or not in_rack else ():
                if fabric.is_firm == (rung <= 4):
                    yield fabric, (fabric, self.rack if in_rack else None)
        elif rung == 7 and self.rack is not None:
            yield None, self.rack
        elif rung == 8:
            yield None, None


class Bond(NamedTuple):
    """How tightly machines are joined, and what the group is called."""

    rung: int
    group: str | None


def places_of(snapshot: Snapshot, least: float = 0) -> Mapping[str, Place]:
    """Return where each machine stands, by its name; on networks by ports of `least` Gbit/s."""
    prefix, machines = snapshot.policy.topology_prefix, snapshot.fleet.machines
    is_labelled = any(prefix + "fabric" in machine.labels for machine in machines)
    return {machine.name: _place(machine, prefix, is_labelled, least) for machine in machines}


def bond(places: Collection[Place]) -> Bond | None:
    """Return how the machines at these places are joined; None where they are in several sites."""
    first = next(iter(places))
    if len(places) == 1:
        return Bond(1, first.domain)
    if len({place.site for place in places}) > 1:
        return None
    rack = common(place.rack for place in places)
    domain = common(place.domain for place in places)
    if domain is not None:
        return Bond(2, domain)
    if networks := shared(places):
        best = min(networks, key=lambda each: (not each.is_firm, each.kind, each.name))
        rung = 4 if best.is_firm else 6
        return Bond(rung, best.name) if rack is None else Bond(rung - 1, f"{best.name}/{rack}")
    return Bond(8, first.site) if rack is None else Bond(7, rack)


def common[T](values: Iterator[T | None]) -> T | None:
    """Return the one value that all are, or None."""
    different = set(values)
    return different.pop() if len(different) == 1 else None


def shared(places: Collection[Place]) -> frozenset[Fabric]:
    """Return the RDMA networks that all of them are on."""
    return frozenset[Fabric].intersection(*(place.fabrics for place in places))


def _place(machine: Machine, prefix: str, is_labelled: bool, least: float) -> Place:
    label = machine.labels.get(prefix + "fabric") or None
    up = [port for port in machine.rdma if port.state == "up"]
    counted = label or _subnet(up)
    if counted is None:  # assumed, InfiniBand before RoCE
        counted = next((own.name for own in _networks(up, label, is_labelled)), None)
    fast = [port for port in up if port.rate_gbps >= least]
    return Place(
        site=machine.labels.get(prefix + "site", machine.network),
        rack=machine.labels.get(prefix + "rack"),
        domain=common(card.nvlink_clique for card in machine.devices if card.health != "faulted"),
        fabrics=frozenset(_networks(fast, label, is_labelled)),
        fabric=counted,
    )


def _networks(ports: Collection[Port], label: str | None, is_labelled: bool) -> Iterator[Fabric]:
    """Yield the networks on which these ports put a machine, InfiniBand first."""
    named: dict[Interconnect, str | None] = {
        "infiniband": _subnet(ports) if label is None else label,
        "roce": label,
    }
    kinds = {port.kind for port in ports}
    for kind, name in named.items():
        if kind in kinds and not (name is None and is_labelled):
            yield Fabric(kind, kind if name is None else name, name is None)


def _subnet(ports: Collection[Port]) -> str | None:
    """Return the InfiniBand subnet that the first of them tells that tells one."""
    return next((p.subnet for p in ports if p.kind == "infiniband" and p.subnet), None)
