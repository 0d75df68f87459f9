"""Drives: every drive a run mounts exists, is reachable from its machine, and has the room."""

from __future__ import annotations

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host

ASKED_BY = "drives"


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """DRIVE_MISSING where one doesn't exist, else DRIVE_UNREACHABLE, else DRIVE_FULL."""
    for name, _ in ask.drives:
        if name not in host.drives:
            return Reason.of(Code.DRIVE_MISSING, f"no drive is called '{name}'", drive=name)
    for name, _ in ask.drives:
        if not host.drives[name].reachable:
            return Reason.of(Code.DRIVE_UNREACHABLE, f"drive '{name}' is out of reach", drive=name)
    for name, need in ask.drives:
        free = host.drives[name].free_bytes
        if free is not None and need > free:
            told = f"{free / 1e9:,.1f} GB free, {need / 1e9:,.1f} needed"
            if f"{free / 1e9:,.1f}" == f"{need / 1e9:,.1f}":
                told = f"{free:,} bytes free, {need:,} needed"
            return Reason.of(
                Code.DRIVE_FULL,
                f"drive '{name}' has {told}",
                drive=name,
                need_bytes=need,
                free_bytes=free,
            )
    return None
