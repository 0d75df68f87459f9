"""Reserved for: a machine kept for labels takes only runs that select every one of them."""

from __future__ import annotations

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host

ON_MACHINES = True


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """MACHINE_RESERVED unless reserved_for is a subset of match_labels."""
    missing = host.machine.reserved_for.items() - set(ask.match_labels)
    if not missing:
        return None
    kept = ", ".join(f"{key}={value}" for key, value in sorted(host.machine.reserved_for.items()))
    return Reason.of(Code.MACHINE_RESERVED, f"only for runs that select {kept}", reserved_for=kept)
