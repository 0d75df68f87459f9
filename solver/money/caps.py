"""What all workers of a run come to at most: the limits that bind its instances together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

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
    what: str
    """The figure: `rate`, `cost`, or another by its name in `figures`."""
    most: int
    figures: Ints | None = None
    """By host; None: what the deal is priced at."""

    def of(self, deal: Deal) -> Ints:
        """Return the figure of one worker on each host."""
        if self.figures is not None:
            return self.figures
        return deal.priced.rate if self.what == "rate" else deal.priced.cost


def caps_on(priced: Priced) -> tuple[Cap, ...]:
    """Return the limits of a run that is bought: of its rate, and of its expected cost."""
    return tuple(_caps(priced))


def kept_to(choices: Choices) -> Iterator[Row]:
    """Yield for each deal: workers_in(share) = so many x starts, workers_in(one of) >= starts; and
    for each of its caps: sum of figure x workers_in(host) <= most x starts."""
    for each, index in choices.dealt():
        own = each.classes[0]
        assert own.deal is not None
        starts = choices.starts(own)
        for share in own.deal.shares:
            yield choices.on_hosts(each, share.hosts).equals(starts * share.workers)
        if own.deal.one_of is not None:
            yield choices.on_hosts(each, own.deal.one_of) >= starts
        for cap in own.deal.caps:
            yield from capped(choices, each, cap.of(own.deal)[choices.grid.where[index]], cap.most)


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


def cheapest(deal: Deal, figure: Ints, caps: Sequence[Cap]) -> int | None:
    """Return the least that a figure comes to over one run's workers; None: no run keeps the caps.

    `figure` is by host, over all hosts.
    """
    chosen = best_set(deal, figure, caps)
    return None if chosen is None else int((figure[deal.hosts] * chosen).sum())


def best_set(deal: Deal, figure: Ints, caps: Sequence[Cap]) -> Ints | None:
    """Return how many of one run's workers are on each host of a deal where a figure is the least;
    None: no run keeps the caps."""
    chosen = _least(deal, figure)
    if chosen is None:
        return None
    bound = [(cap.of(deal), cap.most) for cap in caps]
    if all(int((own[deal.hosts] * chosen).sum()) <= most for own, most in bound):
        return chosen
    for own, most in bound:
        least = _least(deal, own)
        if least is None or int((own[deal.hosts] * least).sum()) > most:
            return None
    return _search(deal, figure, bound)


def _least(deal: Deal, figure: Ints) -> Ints | None:
    """Return how many workers are on each host where a figure is least in sum; caps aside."""
    order = np.lexsort((deal.hosts, figure[deal.hosts]))
    taken = np.zeros(len(deal.hosts), np.int64)
    if deal.shares:
        for share in deal.shares:
            own = order[np.isin(deal.hosts[order], share.hosts)]
            if not _fill(taken, own, deal.most, share.workers):
                return None
    elif deal.ask.spread in ("rack", "fabric"):
        return taken if _spread(deal, order, taken) else None
    elif not _fill(taken, order, deal.most, deal.ask.tasks or 0):
        return None
    if deal.one_of is not None:
        wanted = np.isin(deal.hosts, deal.one_of)
        if not taken[wanted].any():
            first = order[wanted[order]][:1]
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
    assert deal.ask.spread is not None and deal.units is not None
    units = deal.units[deal.hosts]
    seen: set[int] = set()
    for place in order.tolist():
        if int(units[place]) not in seen and len(seen) < (deal.ask.tasks or 0):
            seen.add(int(units[place]))
            taken[place] = 1
    return len(seen) == deal.ask.tasks


def _search(deal: Deal, figure: Ints, bound: Sequence[tuple[Ints, int]]) -> Ints | None:
    """Try sets of hosts, those with the least of the figure first."""
    return _Search(deal, figure, bound).best()


class _Search:
    """Sets of a deal's hosts, looked at in the order of a figure."""

    def __init__(self, deal: Deal, figure: Ints, bound: Sequence[tuple[Ints, int]]) -> None:
        self.order = np.lexsort((deal.hosts, figure[deal.hosts])).tolist()
        self.values = figure[deal.hosts].tolist()
        self.most = deal.most.tolist()
        self.limits = [(own[deal.hosts].tolist(), most) for own, most in bound]
        self.tasks = deal.ask.tasks or 0
        self.needs = [share.workers for share in deal.shares]
        self.share_of: list[int | None] = [None] * len(deal.hosts)
        for number, share in enumerate(deal.shares):
            for place in np.nonzero(np.isin(deal.hosts, share.hosts))[0].tolist():
                self.share_of[place] = number
        self.wanted = [True] * len(deal.hosts)
        if deal.one_of is not None:
            self.wanted = np.isin(deal.hosts, deal.one_of).tolist()
        self.units: list[int] | None = None
        if deal.units is not None:
            self.units = deal.units[deal.hosts].tolist()
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
        share = self.share_of[place]
        most = min(left, self.most[place])
        if share is not None:
            most = min(most, needs[share])
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
            if share is not None:
                rest[share] -= count
            self.taken[place] = count
            self._go(at + 1, left - count, value + count * self.values[place], after, rest)
            self.taken[place] = 0
