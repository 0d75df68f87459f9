"""Most in all: a run goes to no host where it is expected to cost more than it allows."""

from __future__ import annotations

from stowplan.model.money import MICRO, micro_of
from stowplan.model.reasons import Code, Reason
from stowplan.solver.asks import Ask
from stowplan.solver.money.prices import Bools, Ints, Priced, in_dollars, none_of


def bars(ask: Ask, priced: Priced) -> Bools:
    """expected cost > max_cost_usd."""
    most = _most(priced)
    return none_of(priced) if most is None else priced.all_costs > most


def why_barred(ask: Ask, priced: Priced, place: int) -> Reason:
    """EXCEEDS_REMAINING_BUDGET."""
    cost, most = int(priced.all_costs[place]), _most(priced) or 0
    told, limit = in_dollars(cost, most)
    return Reason.of(
        Code.EXCEEDS_REMAINING_BUDGET,
        f"{priced.costs(place)} {told} USD, and it may cost {limit}",
        need_usd=cost / MICRO,
        left_usd=most / MICRO,
    )


def figure(priced: Priced) -> Ints:
    """What is too much."""
    return priced.all_costs


def _most(priced: Priced) -> int | None:
    most = priced.work.run.placement.max_cost_usd
    return None if most is None else micro_of(most)
