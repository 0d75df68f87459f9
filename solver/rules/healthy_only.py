"""Healthy only: a run that asks for it never gets a GPU that is at risk."""

from __future__ import annotations

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host
from stowplan.solver.matching import gpus, tally

READS_ROOM = True
ASKED_BY = "healthy_only"


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """INSUFFICIENT_HEALTHY_GPUS where those at risk would have made it enough, the faulted not."""
    if not ask.healthy_only:
        return None
    count = tally(ask, host, room)
    if count.sound >= ask.gpus or count.sound + count.faulted >= ask.gpus:
        return None
    if count.sound + count.at_risk < ask.gpus:
        return None
    return too_few_healthy(ask.gpus, count.sound, count.at_risk)


def too_few_healthy(need: int, healthy: int, at_risk: int) -> Reason:
    """Return INSUFFICIENT_HEALTHY_GPUS with its three numbers."""
    more = f" ({at_risk} more free but at risk)" if at_risk else ""
    return Reason.of(
        Code.INSUFFICIENT_HEALTHY_GPUS,
        f"needs {need} healthy {gpus(need)}, {healthy} free{more}",
        need=need,
        healthy_free=healthy,
        at_risk_free=at_risk,
    )
