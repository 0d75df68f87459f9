"""State: only a machine that is up and reports capacity takes work."""

from __future__ import annotations

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host

ON_MACHINES = True


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """MACHINE_DOWN where state = down, or cores = memory = GPUs = 0."""
    machine = host.machine
    if machine.state == "down":
        why = f": {machine.state_reason}" if machine.state_reason else ""
        return Reason.of(Code.MACHINE_DOWN, f"down{why}")
    if not (machine.cpu_cores or machine.memory_bytes or machine.devices):
        return Reason.of(Code.MACHINE_DOWN, "no cores, no memory and no GPUs reported")
    return None
