"""Capabilities: a run goes where all it needs is; a machine kept for a need takes no other run."""

from __future__ import annotations

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """CAPABILITY_MISSING unless needs is within capabilities + only, and meets `only` if set."""
    machine = host.machine
    missing = tuple(sorted(ask.needs - {*machine.capabilities, *machine.only}))
    if missing:
        return Reason.of(Code.CAPABILITY_MISSING, f"without {', '.join(missing)}", missing=missing)
    if machine.only and ask.needs.isdisjoint(machine.only):
        kept = tuple(sorted(machine.only))
        return Reason.of(
            Code.CAPABILITY_MISSING, f"only for runs that need {' or '.join(kept)}", only=kept
        )
    return None
