"""Machines: a run starts once, in one shape, with all its workers, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host
from stowplan.solver.money.caps import kept_to
from stowplan.solver.program.linear import Row, total

if TYPE_CHECKING:
    from stowplan.solver.choices import Choices


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """GANG_INFEASIBLE of an offering where a run asks for all machines that could take it."""
    if not host.offering or not ask.is_on_all:
        return None
    text = "the run asks for every machine that could take it, and for nothing that is bought"
    return Reason.of(Code.GANG_INFEASIBLE, text, rule="node_selection")


def post(choices: Choices) -> Iterator[Row]:
    """Sum over cells of workers_in(signature, cell) = sum over its classes of tasks x starts.

    And over the options of a cohort: sum of starting(option) <= runs of the cohort; over those open
    to one of its runs: sum of starts(option) <= 1. What is priced as a whole keeps to its terms.
    """
    for each in choices.signatures:
        yield choices.workers(each).equals(choices.workers_started(each))
    for cohort, options in choices.choosing():
        yield total(choices.starting(*option) for option in options) <= cohort.count
    for copies in choices.copied():
        if copies[0].count > 1:
            yield total(choices.starts(option) for option in copies) <= 1
    yield from kept_to(choices)
