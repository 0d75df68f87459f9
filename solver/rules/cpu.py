"""CPU: the workers on a machine ask for no more cores than are free there."""

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
    """INSUFFICIENT_CPU where a worker's cores are more than are free."""
    if ask.millicores <= max(0, room.millicores):
        return None
    need, free = ask.millicores / 1000, max(0, room.millicores) / 1000
    whole = host.empty.millicores / 1000
    return Reason.of(
        Code.INSUFFICIENT_CPU,
        f"needs {need:,g} cores, {free:,g} of {whole:,g} free",
        need=need,
        free=free,
        whole=whole,
    )


def post(choices: Choices) -> Iterator[Row]:
    """millicores_taken(cell) <= millicores free at the start."""
    for cell in choices.cells:
        yield choices.millicores_taken(cell) <= cell.millicores
