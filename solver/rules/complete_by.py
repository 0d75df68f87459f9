"""Complete by: a run goes to no host where it would end too late, at worst."""

from __future__ import annotations

from stowplan.model.reasons import Code, Reason
from stowplan.solver.asks import Ask
from stowplan.solver.money.prices import Bools, Ints, Priced, hours, none_of


def bars(ask: Ask, priced: Priced) -> Bools:
    """now + finish (p90) > complete_by; where the running time isn't known, now + start (p90)."""
    left = priced.seconds_left
    return none_of(priced) if left is None else priced.finish_p90_s > left


def why_barred(ask: Ask, priced: Priced, place: int) -> Reason:
    """MISSES_DEADLINE."""
    ends, left = int(priced.finish_p90_s[place]), priced.seconds_left or 0
    does = "ends" if priced.is_total[place] else "starts"
    return Reason.of(
        Code.MISSES_DEADLINE,
        f"{does} {hours(ends - left)} h too late at worst (p90)",
        late_s=ends - left,
    )


def figure(priced: Priced) -> Ints:
    """What is too much."""
    return priced.finish_p90_s
