"""Why a run of several workers can't be bought: which of its rules no set of instances keeps.

Each is found by leaving it out: with all others kept there is a set then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from stowplan.model.money import MICRO
from stowplan.model.reasons import Code, Reason
from stowplan.solver.asks import Ask, RunClass
from stowplan.solver.ladder import Group
from stowplan.solver.matching import gpus
from stowplan.solver.money.caps import caps_on
from stowplan.solver.money.dealer import Dealer
from stowplan.solver.money.deals import Deal
from stowplan.solver.money.prices import Ints, hours, in_dollars
from stowplan.solver.options import Options
from stowplan.solver.rooms import Rooms

_PLACES = {"colocated": "location and network", "regional": "region class", "global": "market"}
_LIMITS = {
    "complete_by": Code.MISSES_DEADLINE,
    "max_rate": Code.EXCEEDS_MAX_RATE,
    "if_match": Code.PRICE_ABOVE_ESTIMATE,
    "max_cost": Code.EXCEEDS_REMAINING_BUDGET,
    "budget": Code.EXCEEDS_REMAINING_BUDGET,
    "balance": Code.EXCEEDS_REMAINING_BUDGET,
}
"""The limits that bind all instances together, in the order in which they are left out."""


@dataclass(frozen=True)
class Buying:
    """The sets of instances on which runs of a class could be, with some room."""

    options: Options
    each: RunClass
    rooms: Rooms

    def why_not(self) -> Reason | None:
        """Return which rule leaves no set; None where too few instances would do anyway."""
        for ask in self._shapes:
            if int(self._slots(ask).sum()) >= (ask.tasks or 0):
                found = self._scope(ask) or self._transport(ask) or self._both(ask)
                if found := found or self._limit(ask):
                    return found
        return None

    @property
    def _shapes(self) -> Iterator[Ask]:
        for ask in self.each.ways or (self.each.ask,):
            if (ask.tasks or 0) > 1 and ask.scope is not None:
                yield ask

    def _slots(self, ask: Ask) -> Ints:
        """Return how many instances of each offering take one worker."""
        return np.where(self.options.ladder.offered, self.rooms.slots(ask), 0)

    def _deals(self, ask: Ask, but: str | None = None) -> Iterator[Deal]:
        """Yield what runs could be bought for in this shape; `but` a limit."""
        eligibility = self.options.eligibility
        dealer, priced = Dealer(eligibility.prices, eligibility.ladder), self.rooms.priced(ask)
        if priced is not None:
            for group in self._groups(ask):
                yield from dealer.deals(ask, group, self.rooms.slots(ask), priced, but)

    def _groups(self, ask: Ask) -> Sequence[Group]:
        return list(self.options.bought(ask))

    def _fits(self, ask: Ask) -> bool:
        return next(self._deals(ask), None) is not None

    def _scope(self, ask: Ask) -> Reason | None:
        return self._farther(ask, replace(ask, scope="global"), "scope")

    def _transport(self, ask: Ask) -> Reason | None:
        return self._farther(ask, replace(ask, transport="auto"), "transport")

    def _both(self, ask: Ask) -> Reason | None:
        relaxed = replace(ask, scope="global", transport="auto")
        return self._farther(ask, relaxed, "scope and transport")

    def _farther(self, ask: Ask, relaxed: Ask, rule: str) -> Reason | None:
        """Return how near the best group comes, where a run would fit with a rule, or both, left
        out."""
        if relaxed == ask or not self._fits(relaxed):
            return None
        tasks, slots = ask.tasks or 0, self._slots(ask)
        best, name = 0, None
        for group in self._groups(ask):
            fit = min(tasks, int(slots[group.hosts].sum()))
            if fit > best and group.vicinity is not None:
                best, name = fit, group.vicinity.name
        place = f"one {_PLACES[ask.scope or 'colocated']}"
        paths = " with private or direct paths" if ask.transport == "direct" else ""
        worker = f"workers of {ask.gpus} {gpus(ask.gpus)}" if ask.gpus else "workers"
        nearest = f"the best is {name} with {best}" if name else "none has any"
        text = (
            f"no {tasks} instances for {worker} can start in {place}{paths}: {nearest}; "
            f"without {rule} there would be"
        )
        if best >= tasks:  # it is a limit that the nearer ones break
            text = f"what can start in {place}{paths} breaks its limits; not so without {rule}"
        return Reason.of(Code.GANG_INFEASIBLE, text, rule=rule, workers=tasks, fit=best, best=name)

    def _limit(self, ask: Ask) -> Reason | None:
        """Return the limit without which a run would fit, and what the best set comes to."""
        for rule, code in _LIMITS.items():
            deals = list(self._deals(ask, rule))
            if deals:
                return self._over(ask, rule, code, deals)
        return None

    def _over(self, ask: Ask, rule: str, code: Code, deals: Sequence[Deal]) -> Reason:
        start = f"{ask.tasks} instances together"
        priced = self.rooms.priced(ask)
        assert priced is not None
        if rule == "complete_by":
            ends = min(deal.finish_p90_s for deal in deals)
            late = ends - (priced.seconds_left or 0)
            text = f"{start} end {hours(late)} h too late at worst (p90)"
            return Reason.of(code, text, rule=rule, workers=ask.tasks, late_s=late)
        is_rate = rule in ("max_rate", "if_match")
        least = min(
            deal.least(deal.bills.rate if is_rate else deal.bills.cost) or 0 for deal in deals
        )
        unit = "USD an hour" if is_rate else "USD"
        verb = "cost" if is_rate or deals[0].is_total else "cost at least"
        most = min(cap.most for cap in caps_on(priced) if cap.rule == rule)
        told, limit = in_dollars(least, max(0, most))
        text = f"{start} {verb} {told} {unit}, and {rule} leaves {limit}"
        numbers = {"need_usd": least / MICRO, "left_usd": max(0, most) / MICRO}
        return Reason.of(code, text, rule=rule, workers=ask.tasks, **numbers)
