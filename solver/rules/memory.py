"""Memory: the workers on a machine ask for no more memory than is free there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host
from stowplan.solver.program.linear import Row

if TYPE_CHECKING:
    from stowplan.solver.choices import Choices

READS_ROOM = True


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """INSUFFICIENT_MEMORY where a worker's bytes are more than are free."""
    free = max(0, room.memory_bytes)
    if ask.memory_bytes <= free:
        return None
    need, whole = ask.memory_bytes, host.empty.memory_bytes
    text = f"needs {_gib(need)} GiB of memory, {_gib(free)} of {_gib(whole)} free"
    if _gib(need) == _gib(free):
        text = f"needs {need:,} bytes of memory, {free:,} of {whole:,} free"
    return Reason.of(
        Code.INSUFFICIENT_MEMORY,
        text,
        need_bytes=need,
        free_bytes=free,
        whole_bytes=whole,
    )


def post(choices: Choices) -> Iterator[Row]:
    """memory_taken(cell) <= bytes free at the start."""
    for cell in choices.cells:
        yield choices.memory_taken(cell) <= cell.memory_bytes


def _gib(amount: int) -> str:
    return f"{amount / 2**30:,.1f}".removesuffix(".0")
