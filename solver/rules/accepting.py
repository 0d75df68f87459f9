"""Accepting: a cordoned or draining machine takes nothing new."""

from __future__ import annotations

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host

ON_MACHINES = True


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """MACHINE_CORDONED or MACHINE_DRAINING, by the machine's state."""
    machine = host.machine
    why = f" ({machine.state_reason})" if machine.state_reason else ""
    if machine.state == "cordoned":
        return Reason.of(Code.MACHINE_CORDONED, f"cordoned{why}")
    if machine.state == "draining":
        return Reason.of(Code.MACHINE_DRAINING, f"draining{why}")
    return None
