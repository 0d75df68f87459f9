"""Where machines stand: site, rack, RDMA fabrics, NVLink domain; and which GPUs are free there."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
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


def places(snapshot: Snapshot) -> dict[str, Place]:
    """The place of each machine, by its name."""
    prefix, machines = snapshot.policy.topology_prefix, snapshot.fleet.machines
    is_assumed = all(prefix + "fabric" not in machine.labels for machine in machines)
    found = {}
    for machine in machines:
        label, subnet = machine.labels.get(prefix + "fabric"), _subnet(machine)
        names = {"infiniband": label or subnet, "roce": label}
        fabrics = [
            Fabric(kind, name)
            for kind, name in names.items()
            if has_port(machine, kind) and (name or is_assumed)
        ]
        found[machine.name] = Place(
            site=site_of(snapshot, machine),
            rack=machine.labels.get(prefix + "rack"),
            domain=_domain(machine),
            fabrics=frozenset(fabrics),
            unit=label or subnet or next((each for each in fabrics if not each.name), None),
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


def _subnet(machine: Machine) -> str | None:
    return next((p.subnet for p in machine.rdma if p.kind == "infiniband" and p.subnet), None)


def _domain(machine: Machine) -> str | None:
    return shared(each.nvlink_clique for each in machine.devices if each.health != "faulted")
