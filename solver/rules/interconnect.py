"""Interconnect: no two workers of a run are joined by a slower network than it accepts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.model.topology import DOMAIN
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host

if TYPE_CHECKING:
    from stowplan.solver.ladder import Group

ASKED_BY = "interconnect"


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """NO_RDMA where no port of the kind asked for is up; for a single worker too.

    TOPOLOGY_UNLABELLED of an offering where several workers ask for NVLink: nothing tells which
    instances are in one domain.
    """
    if ask.interconnect == "nvlink" and host.offering and ask.tasks != 1:
        text = "not known which instances are in one NVLink domain, for interconnect: nvlink"
        return Reason.of(
            Code.TOPOLOGY_UNLABELLED,
            text,
            rule="interconnect",
            unit="nvlink_domain",
            kind="offering",
        )
    if ask.interconnect not in ("rdma", "infiniband"):
        return None
    kind = "InfiniBand" if ask.interconnect == "infiniband" else "RDMA"
    if any(ports(ask, host)):
        return None
    has = f"no {kind} port is up" if host.machine.rdma else f"no {kind} port"
    return Reason.of(Code.NO_RDMA, has, asked=ask.interconnect)


def ports(ask: Ask, host: Host) -> tuple[float, ...]:
    """Return the rates of the host's ports that are up and of the kind asked for, in Gbit/s."""
    wanted = ("infiniband",) if ask.interconnect == "infiniband" else ("infiniband", "roce")
    return tuple(
        float(port.rate_gbps)
        for port in host.machine.rdma
        if port.state == "up" and port.kind in wanted
    )


def allows(ask: Ask, group: Group) -> bool:
    """nvlink: rung <= 2; infiniband: an InfiniBand network joins the group too; rdma: any does."""
    if ask.interconnect is None or group.rung <= DOMAIN:
        return True
    match ask.interconnect:
        case "nvlink":
            return False
        case "infiniband":
            return group.joint.has_infiniband
        case "rdma":
            return group.joint.has_rdma
