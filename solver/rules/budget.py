"""Budget: what workspaces start in a cycle is expected to cost no more than they share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stowplan.model.reasons import Reason
from stowplan.solver.asks import Ask
from stowplan.solver.money.prices import Bools, Ints, Priced
from stowplan.solver.money.purses import over_a_purse, spent, too_dear_for
from stowplan.solver.program.linear import Row

if TYPE_CHECKING:
    from stowplan.solver.choices import Choices


def bars(ask: Ask, priced: Priced) -> Bools:
    """expected cost > what is left of a budget that the workspace shares."""
    return over_a_purse("budget", priced)


def why_barred(ask: Ask, priced: Priced, place: int) -> Reason:
    """EXCEEDS_REMAINING_BUDGET."""
    return too_dear_for("budget", priced, place)


def figure(priced: Priced) -> Ints:
    """What is too much."""
    return priced.all_costs


def post(choices: Choices) -> Iterator[Row]:
    """Sum over a budget's classes and all cells of cost x workers_in(class, cell) <= remaining."""
    return spent(choices, "budget")
