"""Keep within: a run stays on one machine, NVLink domain, fabric or rack, where it says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.model.topology import MACHINE, Unit
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host

if TYPE_CHECKING:
    from stowplan.solver.ladder import Group

ASKED_BY = "keep_within"

WORDS = {"nvlink_domain": "NVLink domain", "fabric": "fabric", "rack": "rack", "node": "machine"}


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """TOPOLOGY_UNLABELLED of a run of several workers, where nothing tells what the host is in.

    GANG_INFEASIBLE of an offering where all are to be on one machine: an instance takes one worker.
    """
    if host.offering and ask.tasks != 1 and ask.keep_within == "node":
        text = "each worker has an instance of its own, and keep_within: node asks for one machine"
        return Reason.of(Code.GANG_INFEASIBLE, text, rule="keep_within")
    return unlabelled(ask, host, ask.keep_within, "keep_within")


def unlabelled(ask: Ask, host: Host, unit: Unit | None, rule: str) -> Reason | None:
    """Return TOPOLOGY_UNLABELLED where it isn't known in which unit a host is."""
    if ask.tasks == 1 or unit is None or unit == "node":
        return None
    if host.spot is None and not host.offering:
        return None
    if host.spot is not None and host.spot.of(unit) is not None:
        return None
    if host.offering:
        text = f"not known in which {WORDS[unit]} instances would be, for {rule}: {unit}"
        return Reason.of(Code.TOPOLOGY_UNLABELLED, text, rule=rule, unit=unit, kind="offering")
    text = f"not known in which {WORDS[unit]} it is, for {rule}: {unit}"
    return Reason.of(Code.TOPOLOGY_UNLABELLED, text, rule=rule, unit=unit)


def allows(ask: Ask, group: Group) -> bool:
    """unit(host) is the same for all hosts of the group; one machine is within all of its own."""
    if ask.keep_within is None or group.rung == MACHINE:
        return True
    return group.joint.shared(ask.keep_within) is not None
