"""Drives: every drive a run mounts exists, is reachable from its machine, and has the room."""

from __future__ import annotations

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """DRIVE_MISSING, DRIVE_UNREACHABLE or DRIVE_FULL, for the first drive that fails."""
    for name, need in ask.drives:
        reach = host.drives.get(name)
        if reach is None:
            return Reason.of(Code.DRIVE_MISSING, f"there is no drive '{name}'", drive=name)
        if not reach.reachable:
            text = f"can't reach drive '{name}'"
            return Reason.of(Code.DRIVE_UNREACHABLE, text, drive=name)
        if reach.free_bytes is not None and need > reach.free_bytes:
            free_gb, need_gb = reach.free_bytes / 1e9, need / 1e9
            return Reason.of(
                Code.DRIVE_FULL,
                f"drive '{name}' has {free_gb:,.1f} GB free, {need_gb:,.1f} needed",
                drive=name,
                need_bytes=need,
                free_bytes=reach.free_bytes,
            )
    return None
