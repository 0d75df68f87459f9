"""What budgets and balances have in common: money that runs of a cycle spend together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from stowplan.model.decision import Estimate
from stowplan.model.money import MICRO
from stowplan.model.reasons import Code, Reason
from stowplan.solver.money.prices import Bools, Priced, Purse, in_dollars, none_of
from stowplan.solver.money.profiles import LARGEST
from stowplan.solver.money.vast import could_spend
from stowplan.solver.program.linear import Row

if TYPE_CHECKING:
    from stowplan.solver.choices import Choices


def over_a_purse(rule: str, priced: Priced) -> Bools:
    """Return the hosts where a run costs more than is left of one of its purses."""
    purse = _tightest(rule, priced)
    return none_of(priced) if purse is None else priced.all_costs > priced.left[purse.key]


def too_dear_for(rule: str, priced: Priced, place: int) -> Reason:
    """Return how much a run costs on a host, and how little the purse has."""
    purse = _tightest(rule, priced)
    assert purse is not None
    cost, left = int(priced.all_costs[place]), max(0, priced.left[purse.key])
    told, limit = in_dollars(cost, left)
    whose = f"budget {purse.name}" if purse.rule == "budget" else f"workspace {purse.name}"
    return Reason.of(
        Code.EXCEEDS_REMAINING_BUDGET,
        f"{priced.costs(place)} {told} USD, and {whose} has {limit} left",
        need_usd=cost / MICRO,
        left_usd=left / MICRO,
        **{purse.rule: purse.name},
    )


def _tightest(rule: str, priced: Priced) -> Purse | None:
    own = [purse for purse in priced.purses if purse.rule == rule]
    return min(own, key=lambda purse: (priced.left[purse.key], purse.name), default=None)


def spent(choices: Choices, rule: Literal["budget", "balance"]) -> Iterator[Row]:
    """Yield for each purse: what its runs spend is no more than it has.

    A vast one that nothing can overdraw has no row: its sums might be more than rows hold.
    """
    for purse in choices.grid.eligibility.prices.purses:
        if purse.rule != rule:
            continue
        spending = choices.spending(
            {
                index
                for index, each in enumerate(choices.classes)
                if each.ask.workspace in purse.workspaces
            }
        )
        is_vast = choices.program.range(spending)[1] >= LARGEST
        if not is_vast or could_spend(choices.grid, purse) > purse.micro:
            yield spending <= purse.micro


def with_purses(found: Estimate, purses: Iterable[Purse]) -> Estimate:
    """Name the purses that are held against what is sure alone, where no time is known."""
    if found.duration is not None:
        return found
    told = (f"{purse.name}: held against what is sure to be charged" for purse in purses)
    return found.model_copy(update={"unverified": (*found.unverified, *told)})
