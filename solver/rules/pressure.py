"""Pressure: a machine that is short of memory or disk takes no new work."""

from __future__ import annotations

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host

ON_MACHINES = True


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """MACHINE_PRESSURE where state = pressure."""
    if host.machine.state != "pressure":
        return None
    what = host.machine.state_reason or "memory or disk"
    return Reason.of(Code.MACHINE_PRESSURE, f"under pressure ({what})")
