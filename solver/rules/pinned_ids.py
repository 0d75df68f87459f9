"""Pinned GPUs: a run that names GPUs gets exactly those."""

from __future__ import annotations

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host
from stowplan.solver.matching import matches

READS_ROOM = True
ASKED_BY = "ids"


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """NO_MATCHING_GPU where one isn't here, or not as asked; PINNED_GPU_BUSY where not free."""
    if not ask.ids or not ask.gpus:
        return None
    absent = tuple(sorted(ask.ids if host.offering else ask.ids - host.empty.devices))
    if absent:
        text = f"without the pinned GPU {', '.join(absent)}"
        return Reason.of(Code.NO_MATCHING_GPU, text, missing=absent)
    unlike = tuple(
        sorted(
            id
            for lot in host.lots
            if lot.ids <= ask.ids and not matches(ask, lot)
            for id in lot.ids
        )
    )
    if unlike:
        text = f"pinned GPU {', '.join(unlike)} not of the model, vendor or memory asked for"
        return Reason.of(Code.NO_MATCHING_GPU, text, unlike=unlike)
    busy = tuple(sorted(ask.ids - room.devices))
    if busy:
        text = f"pinned GPU {', '.join(busy)} not free"
        return Reason.of(Code.PINNED_GPU_BUSY, text, busy=busy)
    return None
