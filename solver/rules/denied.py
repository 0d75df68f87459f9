"""Denied GPUs: what the operator withholds is shown and never given."""

from __future__ import annotations

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host
from stowplan.solver.matching import gpus, tally, usable

READS_ROOM = True
ON_MACHINES = True


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """GPU_DENIED where the withheld GPUs would have made it enough, and the faulted ones not."""
    if not any(lot.denied for lot in host.lots):
        return None
    count = tally(ask, host, room)
    have = usable(ask, count)
    if have >= ask.gpus or have + count.faulted >= ask.gpus or have + count.denied < ask.gpus:
        return None
    return Reason.of(
        Code.GPU_DENIED,
        f"needs {ask.gpus} {gpus(ask.gpus)}, {have} free ({count.denied} more free but withheld)",
        need=ask.gpus,
        free=have,
        denied=count.denied,
    )
