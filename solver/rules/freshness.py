"""Freshness: a machine whose last report is too old takes no work."""

from __future__ import annotations

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host

ON_MACHINES = True


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """HARDWARE_STALE where now - reported_at > stale_after_s."""
    if host.fresh:
        return None
    return Reason.of(
        Code.HARDWARE_STALE,
        f"last reported {host.age_s:,} s ago (stale after {host.stale_after_s:,} s)",
        age_s=host.age_s,
        stale_after_s=host.stale_after_s,
    )
