"""If-Match: a run made from an estimate goes to no host that is much dearer than that."""

from __future__ import annotations

from stowplan.model.money import MICRO
from stowplan.model.reasons import Code, Reason
from stowplan.solver.asks import Ask
from stowplan.solver.money.prices import Bools, Ints, Priced, in_dollars, none_of


def bars(ask: Ask, priced: Priced) -> Bools:
    """rate > the estimate's rate x (1 + bands.if_match), unless max_rate_usd_per_hour is set.

    Both are of all its workers together.
    """
    if priced.ceiling is None:
        return none_of(priced)
    return priced.rate > priced.ceiling // priced.times


def why_barred(ask: Ask, priced: Priced, place: int) -> Reason:
    """PRICE_ABOVE_ESTIMATE."""
    rate, most = int(priced.rate[place] * priced.times[place]), priced.ceiling or 0
    told, limit = in_dollars(rate, most)
    return Reason.of(
        Code.PRICE_ABOVE_ESTIMATE,
        f"{told} USD an hour, and its estimate allows {limit}",
        rate_usd_per_hour=rate / MICRO,
        max_usd_per_hour=most / MICRO,
    )


def figure(priced: Priced) -> Ints:
    """What is too much."""
    return priced.rate
