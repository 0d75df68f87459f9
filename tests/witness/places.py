"""Where machines stand: site, rack, RDMA fabrics, NVLink domain; and which GPUs are free there."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from stowplan.model.fleet import Machine
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.witness.machines import rooms, site_of


class Fabric(NamedTuple):
    """An RDMA network; without a name it is the one that a fleet without labels counts as."""

    kind: str
    name: str | None


type Unit = str | Fabric | None
"""The one fabric that `keep_within` and `spread` read: by its name, or the assumed one."""


class Place(NamedTuple):
    """What a machine is in, of each kind."""

    site: str | None
    """None: the one site of all machines that say nothing."""
    rack: str | None
    domain: str | None
    fabrics: frozenset[Fabric]
    unit: Unit

    def within(self, unit: str) -> Unit:
        """What it is in, as `keep_within` and `spread` name the kinds; None: it isn't known."""
        return {"nvlink_domain": self.domain, "fabric": self.unit, "rack": self.rack}[unit]


def places(snapshot: Snapshot, least: float | None = None) -> dict[str, Place]:
    """The place of each machine, by its name; in networks by ports of so many Gbit/s or more."""
    prefix, machines = snapshot.policy.topology_prefix, snapshot.fleet.machines
    is_assumed = all(prefix + "fabric" not in machine.labels for machine in machines)
    found = {}
    for machine in machines:
        label = machine.labels.get(prefix + "fabric")
        known = label or _subnet(machine, None)
        networks = _networks(machine, label, None, is_assumed=is_assumed)
        found[machine.name] = Place(
            site=site_of(snapshot, machine),
            rack=machine.labels.get(prefix + "rack"),
            domain=_domain(machine),
            fabrics=frozenset(_networks(machine, label, least, is_assumed=is_assumed)),
            unit=known or next((each for each in networks if not each.name), None),
        )
    return found


def has_port(machine: Machine, kind: str | None, least: float | None = None) -> bool:
    """Whether an RDMA port is up: of that kind or of either, and of at least that many Gbit/s."""
    return any(
        port.state == "up"
        and kind in (None, port.kind)
        and (least is None or port.rate_gbps >= least)
        for port in machine.rdma
    )


def bad_ports(machine: Machine, run: Run) -> list[str]:
    """The codes for which no port of the machine is as the run asks."""
    asked, least = run.network.interconnect, run.network.min_gbps
    kind = "infiniband" if asked == "infiniband" else None
    if asked not in ("rdma", "infiniband") and least is None:
        return []
    if not has_port(machine, kind):
        return ["NO_RDMA"]
    return [] if has_port(machine, kind, least) else ["RDMA_TOO_SLOW"]


def free_gpus(snapshot: Snapshot) -> dict[str, int]:
    """The sound GPUs that nobody holds, on each machine that is up and has reported lately."""
    free, most = rooms(snapshot), dt.timedelta(seconds=snapshot.policy.stale_after_s)
    return {
        machine.name: sum(
            device.health != "faulted" and device.id in free[machine.name].devices
            for device in machine.devices
        )
        if machine.state == "up" and snapshot.now - (machine.reported_at or snapshot.now) <= most
        else 0
        for machine in snapshot.fleet.machines
    }


def shared[T](values: Iterable[T]) -> T | None:
    """The one value that all of them are; None where they differ, or aren't known."""
    told = set(values)
    return told.pop() if len(told) == 1 else None


def _networks(
    machine: Machine, label: str | None, least: float | None, *, is_assumed: bool
) -> Iterator[Fabric]:
    """Yield the networks that its ports of so many Gbit/s are on, InfiniBand first."""
    for kind, name in (("infiniband", label or _subnet(machine, least)), ("roce", label)):
        if has_port(machine, kind, least) and (name or is_assumed):
            yield Fabric(kind, name)


def _subnet(machine: Machine, least: float | None) -> str | None:
    for port in machine.rdma:
        is_used = port.state == "up" and port.rate_gbps >= (least or 0)
        if is_used and port.kind == "infiniband" and port.subnet:
            return port.subnet
    return None


def _domain(machine: Machine) -> str | None:
    return shared(each.nvlink_clique for each in machine.devices if each.health != "faulted")
