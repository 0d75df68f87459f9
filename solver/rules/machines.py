"""Machines: a run starts once, in one shape, with all its workers, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host
from stowplan.solver.program.linear import Row, total

if TYPE_CHECKING:
    from stowplan.solver.choices import Choices


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """GANG_INFEASIBLE where a run of several workers would be on offerings."""
    if not host.offering or ask.tasks == 1:
        return None
    return Reason.of(Code.GANG_INFEASIBLE, "a run of several workers can't be on offerings yet")


def post(choices: Choices) -> Iterator[Row]:
    """Sum over cells of workers_in(signature, cell) = sum over its classes of tasks x starts.

    And over the options of a cohort: sum of starting(option) <= runs of the cohort.
    """
    for each in choices.signatures:
        yield choices.workers(each).equals(choices.workers_started(each))
    for cohort, options in choices.choosing():
        yield total(choices.starting(*option) for option in options) <= cohort.count
