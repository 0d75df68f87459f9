"""Most an hour: a run goes to no host that is dearer by the hour than it allows."""

from __future__ import annotations

from stowplan.model.money import MICRO, micro_of
from stowplan.model.reasons import Code, Reason
from stowplan.solver.asks import Ask
from stowplan.solver.money.prices import Bools, Ints, Priced, in_dollars, none_of


def bars(ask: Ask, priced: Priced) -> Bools:
    """rate > max_rate_usd_per_hour, for all its workers together."""
    most = _most(priced)
    return none_of(priced) if most is None else priced.rate > most // priced.times


def why_barred(ask: Ask, priced: Priced, place: int) -> Reason:
    """EXCEEDS_MAX_RATE."""
    rate, most = int(priced.rate[place] * priced.times[place]), _most(priced) or 0
    told, limit = in_dollars(rate, most)
    return Reason.of(
        Code.EXCEEDS_MAX_RATE,
        f"{told} USD an hour, and at most {limit} allowed",
        rate_usd_per_hour=rate / MICRO,
        max_usd_per_hour=most / MICRO,
    )


def figure(priced: Priced) -> Ints:
    """What is too much."""
    return priced.rate


def _most(priced: Priced) -> int | None:
    most = priced.work.run.placement.max_rate_usd_per_hour
    return None if most is None else micro_of(most)
