"""Most accelerators: no worker takes more GPUs of a machine than its operator lets one run have."""

from __future__ import annotations

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host
from stowplan.solver.matching import gpus

ON_MACHINES = True


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """MAX_ACCELERATORS where a worker's GPUs are more than constraints.max_accelerators."""
    most = host.machine.constraints.max_accelerators
    if most is None or ask.gpus <= most:
        return None
    text = f"at most {most} {gpus(most)} for one run, {ask.gpus} asked for"
    return Reason.of(Code.MAX_ACCELERATORS, text, need=ask.gpus, most=most)
