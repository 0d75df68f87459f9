"""Spread: two workers of one run are never on one machine, unless the run lets them share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stowplan.solver.linear import Row

if TYPE_CHECKING:
    from stowplan.solver.choices import Choices


def post(choices: Choices) -> Iterator[Row]:
    """workers_on(class, host) <= starts(class).

    Enough for exactness: counts with these bounds and the right sum can always be dealt out so
    that each run gets different hosts (Gale-Ryser with equal rows).
    """
    for each in choices.classes:
        if not each.ask.may_share and (each.ask.tasks or 0) > 1:
            for host in choices.hosts_for(each):
                yield choices.workers_on(each, host) <= choices.starts(each)
