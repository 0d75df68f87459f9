"""Pinned GPUs: a run that names GPUs gets exactly those."""

from __future__ import annotations

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host

READS_ROOM = True


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """NO_MATCHING_GPU where one isn't here; PINNED_GPU_BUSY where one isn't free."""
    if not ask.ids or not ask.gpus:
        return None
    absent = tuple(sorted(ask.ids - host.empty.devices))
    if absent:
        text = f"without the pinned GPU {', '.join(absent)}"
        return Reason.of(Code.NO_MATCHING_GPU, text, missing=absent)
    busy = tuple(sorted(ask.ids - room.devices))
    if busy:
        text = f"pinned GPU {', '.join(busy)} not free"
        return Reason.of(Code.PINNED_GPU_BUSY, text, busy=busy)
    return None
