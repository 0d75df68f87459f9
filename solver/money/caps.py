"""What all workers of a run come to at most: the limits that bind its instances together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from stowplan.model.money import micro_of
from stowplan.solver.cells import Signature
from stowplan.solver.money.prices import Ints, Priced
from stowplan.solver.program.linear import Row

if TYPE_CHECKING:
    from stowplan.solver.choices import Choices
    from stowplan.solver.money.deals import Deal

MOST = 2**50
"""What a row may come to."""
STEPS = 20_000
"""Sets that are looked at where several limits bind at once; then none is said to fit."""


class Cap(NamedTuple):
    """A figure that all workers of a run come to at most."""

    rule: str
    what: Literal["rate", "cost", "risked", "ranked_rate", "risked_rate"]
    most: int

    def of(self, deal: Deal) -> Ints:
        """Return the figure of one worker on each host."""
        figure: Ints = getattr(deal.bills, self.what)
        return figure


def caps_on(priced: Priced) -> tuple[Cap, ...]:
    """Return the limits of a run that is bought: of its rate, and of its expected cost."""
    return tuple(_caps(priced))


def kept_to(choices: Choices) -> Iterator[Row]:
    """Yield for each deal: workers_in(share) = so many x starts, workers_in(wanted) >= starts; and
    for each of its caps: sum of figure x workers_in(host) <= most x starts."""
    for each, index in choices.dealt():
        own, deal = each.classes[0], each.classes[0].deal
        assert deal is not None
        starts = choices.starts(own)
        for number, workers in enumerate(deal.needs if len(deal.needs) > 1 else ()):
            there = choices.on_hosts(each, deal.hosts[deal.share == number])
            yield there.equals(starts * workers)
        if not deal.wanted.all():
            yield choices.on_hosts(each, deal.hosts[deal.wanted]) >= starts
        at = np.searchsorted(deal.hosts, choices.grid.where[index])
        for cap in deal.caps:
            yield from capped(choices, each, cap.of(deal)[at], cap.most)


def capped(choices: Choices, each: Signature, figure: Ints, most: int) -> Iterator[Row]:
    """Yield sum of figure x workers_in(host) <= most x starts; `figure` is by the class's hosts.

    Where that would be vast it is counted in larger units, rounded against the run.
    """
    own = each.classes[0]
    tasks = max(1, own.ask.tasks or 0)
    unit = max(1, -(-max(0, most) // MOST), -(-int(figure.max(initial=0)) * tasks // MOST))
    if most < 0:
        yield choices.starts(own) <= 0
    else:
        scaled = -(-figure // unit)
        yield choices.weighed(each, lambda _: scaled) <= choices.starts(own) * (most // unit)


def _caps(priced: Priced) -> Iterator[Cap]:
    wanted = priced.work.run.placement
    if wanted.max_rate_usd_per_hour is not None:
        yield Cap("max_rate", "rate", micro_of(wanted.max_rate_usd_per_hour))
    if priced.ceiling is not None:
        yield Cap("if_match", "rate", priced.ceiling)
    if wanted.max_cost_usd is not None:
        yield Cap("max_cost", "cost", micro_of(wanted.max_cost_usd))
    for purse in priced.purses:
        yield Cap(purse.rule, "cost", priced.left[purse.key])


def best_set(deal: Deal, figure: Ints, caps: Sequence[Cap]) -> Ints | None:
    """Return how many of one run's workers are on each host of a deal where a figure is the least;
    None: no run keeps the caps."""
    chosen = _least(deal, figure)
    if chosen is None:
        return None
    bound = [(cap.of(deal), cap.most) for cap in caps]
    if all(int((own * chosen).sum()) <= most for own, most in bound):
        return chosen
    for own, most in bound:
        least = _least(deal, own)
        if least is None or int((own * least).sum()) > most:
            return None
    return _Search(deal, figure, bound).best()


def _least(deal: Deal, figure: Ints) -> Ints | None:
    """Return how many workers are on each host where a figure is least in sum; caps aside."""
    order = np.lexsort((deal.hosts, figure))
    taken = np.zeros(len(deal.hosts), np.int64)
    if deal.units is not None:
        return taken if _spread(deal, order, taken) else None
    for number, workers in enumerate(deal.needs):
        own = order[deal.share[order] == number]
        if not _fill(taken, own, deal.most, workers):
            return None
    if not deal.wanted[taken > 0].any():
        first = order[deal.wanted[order]][:1]
        if not len(first) or len(deal.needs) > 1:
            return None
        last = next(place for place in order[::-1].tolist() if taken[place])
        taken[last] -= 1
        taken[first] += 1
    return taken


def _fill(taken: Ints, order: Ints, most: Ints, workers: int) -> bool:
    before = np.cumsum(most[order]) - most[order]
    taken[order] = np.clip(workers - before, 0, most[order])
    return int(taken[order].sum()) == workers


def _spread(deal: Deal, order: Ints, taken: Ints) -> bool:
    """Take the first host of each rack, or fabric, for as many as are needed."""
    assert deal.units is not None
    seen: set[int] = set()
    for place in order.tolist():
        if int(deal.units[place]) not in seen and len(seen) < (deal.ask.tasks or 0):
            seen.add(int(deal.units[place]))
            taken[place] = 1
    return len(seen) == deal.ask.tasks


class _Search:
    """Sets of a deal's hosts, looked at in the order of a figure."""

    def __init__(self, deal: Deal, figure: Ints, bound: Sequence[tuple[Ints, int]]) -> None:
        self.order = np.lexsort((deal.hosts, figure)).tolist()
        self.values, self.most = figure.tolist(), deal.most.tolist()
        self.limits = [(own.tolist(), most) for own, most in bound]
        self.tasks, self.needs = deal.ask.tasks or 0, deal.needs
        self.share, self.wanted = deal.share.tolist(), deal.wanted.tolist()
        self.units = None if deal.units is None else deal.units.tolist()
        self.steps = 0
        self.least: int | None = None
        self.chosen: Ints | None = None
        self.taken = [0] * len(deal.hosts)

    def best(self) -> Ints | None:
        """Return the best set, if there is one."""
        self._go(0, self.tasks, 0, [0] * len(self.limits), list(self.needs))
        return self.chosen

    def _go(self, at: int, left: int, value: int, spent: list[int], needs: list[int]) -> None:
        self.steps += 1
        if not left:
            if not any(needs) and any(
                n and w for n, w in zip(self.taken, self.wanted, strict=True)
            ):
                self.least, self.chosen = value, np.array(self.taken, np.int64)
            return
        if at == len(self.order) or self.steps > STEPS:
            return
        place = self.order[at]
        if self.least is not None and value + left * self.values[place] >= self.least:
            return
        share = self.share[place]
        most = min(left, self.most[place], needs[share])
        if self.units is not None and any(
            n and self.units[other] == self.units[place] for other, n in enumerate(self.taken)
        ):
            most = 0
        for count in range(most, -1, -1):
            after = [
                own + count * figures[place]
                for own, (figures, _) in zip(spent, self.limits, strict=True)
            ]
            if any(own > limit for own, (_, limit) in zip(after, self.limits, strict=True)):
                continue
            rest = list(needs)
            rest[share] -= count
            self.taken[place] = count
            self._go(at + 1, left - count, value + count * self.values[place], after, rest)
            self.taken[place] = 0
