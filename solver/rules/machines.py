"""Machines: a run starts with all its workers, or not at all."""

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


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """GANG_INFEASIBLE where a run of several workers would be on offerings."""
    if not host.offering or ask.tasks == 1:
        return None
    return Reason.of(Code.GANG_INFEASIBLE, "a run of several workers can't be on offerings yet")


def post(choices: Choices) -> Iterator[Row]:
    """Sum over cells of workers_in(signature, cell) = sum over its classes of tasks x starts."""
    for each in choices.signatures:
        yield choices.workers(each).equals(choices.workers_started(each))
