"""What runs choose by: first their value, then what each profile prefers among hosts as good.

Each figure is that of one worker on each of a class's hosts; a stage sums it over all that starts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from stowplan.model.errors import InvalidInput, Item, Path, Problem
from stowplan.model.money import MICRO, in_cents
from stowplan.model.runs import Profile
from stowplan.solver.asks import Ask
from stowplan.solver.choices import Choices
from stowplan.solver.grid import Grid
from stowplan.solver.money.appraisal import Appraisal
from stowplan.solver.money.prices import Ints, Prices
from stowplan.solver.program.linear import Sum, total

LARGEST = 2**53
"""What sums must stay below, so that they are exact everywhere."""

type Figure = Callable[[Grid, int], Ints]
"""A figure of one worker of a class, by the hosts that it could be on."""


class Preference(NamedTuple):
    """A figure of one worker on every host, and which way is better."""

    name: str
    by_host: Callable[[Prices, Ask], Ints]
    maximise: bool
    profiles: Sequence[Profile] = ("balanced", "cost", "speed")
    """Those that look at it."""

    def figure(self, grid: Grid, index: int) -> Ints:
        """Return the figure by the hosts of a class: 0 where its profile doesn't look at it."""
        each = grid.appraisals[index]
        if each is None or each.profile not in self.profiles:
            return _nothing(grid, index)
        return self.by_host(grid.eligibility.prices, grid.classes[index].ask)[each.hosts]


def wishes(grid: Grid, index: int) -> Ints:
    """In the pool that the run names, then interruptible as it prefers; not too dear for speed."""
    each = grid.appraisals[index]
    if each is None:
        return _nothing(grid, index)
    _, preferring, _, hurrying = grid.workers_by_tier
    of_preferred = 1 + hurrying
    of_pool = of_preferred * (2 + preferring)
    return np.array([of_pool, of_preferred, 0, -1], np.int64)[each.tier]


def regret(grid: Grid, index: int) -> Ints:
    """Micro-dollars by which a host is worse than the best."""
    each = grid.appraisals[index]
    return _nothing(grid, index) if each is None else each.regret


def fit(prices: Prices, ask: Ask) -> Ints:
    """Return by host how much of it a worker uses, in millionths: of its GPUs; of its cores where
    the worker has none."""
    whole = np.maximum(1, prices.gpus if ask.gpus else prices.millicores)
    return np.minimum(ask.gpus or ask.millicores, whole) * MICRO // whole


def _cost(prices: Prices, ask: Ask) -> Ints:
    priced = prices.of(ask)
    assert priced is not None  # only then do profiles choose
    return priced.risked


def _start(prices: Prices, ask: Ask) -> Ints:
    priced = prices.of(ask)
    assert priced is not None  # only then do profiles choose
    return priced.start_s


def _warm(prices: Prices, _: Ask) -> Ints:
    return prices.warm.astype(np.int64)


def excess(grid: Grid, index: int) -> Ints:
    """By how much a host's measure is above the best, where hosts have the same regret."""
    each = grid.appraisals[index]
    return _nothing(grid, index) if each is None or not _ties(each) else each.excess


def _ties(each: Appraisal) -> bool:
    """Whether hosts of one tier differ in their measure, and not in their regret."""
    order = np.lexsort((each.measure, each.regret, each.tier))
    tier, regrets, measure = (np.diff(own[order]) for own in (each.tier, each.regret, each.measure))
    return bool(((tier == 0) & (regrets == 0) & (measure != 0)).any())


def refuse_vast(grid: Grid) -> None:
    """Raise InvalidInput where regrets could add up to more than whole numbers hold exactly."""
    most = [
        0 if each is None else int(each.regret.max(initial=0)) * own.count * (own.ask.tasks or 0)
        for own, each in zip(grid.classes, grid.appraisals, strict=True)
    ]
    if sum(most) >= LARGEST:
        run = grid.classes[most.index(max(most))].name
        told = f"the hosts of '{run}' differ by up to {in_cents(max(most))} USD: too much to add up"
        path: Path = ("runs", Item(run), "placement")
        raise InvalidInput([Problem(path, told, "give it a lower max_rate_usd_per_hour")])


FAILED = Preference(
    "recent_failures", lambda prices, _: prices.failed_lately.astype(np.int64), maximise=False
)
OWN: Sequence[Preference] = (
    Preference("cost", _cost, False, ("speed",)),
    Preference("health", lambda prices, _: prices.health, True, ("balanced",)),
    Preference("start", _start, False, ("balanced",)),
    Preference("warm", _warm, True, ("cost",)),
    Preference("fit", fit, True, ("balanced", "cost")),
    Preference("warm_at_last", _warm, True, ("balanced",)),
)
"""What a profile prefers at last: balanced health, start, fit, warm; cost warm, fit; speed the
cheaper of hosts equally fast."""


def worth_at_best(choices: Choices, values: Sequence[int]) -> int:
    """Return what all that is placed would be worth on the best hosts, in micro-dollars.

    What regret comes on top of: the rate for as long as it runs, or the cost.
    """
    worth = 0
    for each in choices.signatures:
        for index in each.members:
            appraisal = choices.grid.appraisals[index]
            if appraisal is not None:
                own = choices.classes[index]
                worth += choices.starts(own).at(values) * (own.ask.tasks or 0) * appraisal.least
    return worth


AROUND = 8
"""Workers about the even level that are counted one by one."""


def even_level(most: Sequence[int], workers: int) -> int:
    """Return how many workers each offering has where they are spread evenly, at most so many."""
    level, left = 0, min(workers, sum(most))
    for place, upper in enumerate(sorted(most)):
        offerings = len(most) - place
        if (upper - level) * offerings >= left:
            return level + -(-left // offerings)
        left -= (upper - level) * offerings
        level = upper
    return level


def steps_up(most: int, level: int) -> Iterator[tuple[int, int]]:
    """Yield sizes and costs that add up to a square: a worker more costs one, three, five ...

    One by one about the even level; what lies far below or above it is one step each, at the cost
    that it has on average.
    """
    low, high = max(0, level - AROUND), min(most, level + AROUND)
    low = min(low, most)
    if low:
        yield low, low
    for number in range(low, high):
        yield 1, 2 * number + 1
    if high < most:
        yield most - high, most + high


def summed(choices: Choices, figure: Figure) -> Sum:
    """Return the sum of a figure over all that is placed."""
    grid = choices.grid
    return total(
        choices.weighed(each, lambda index: figure(grid, index)) for each in choices.signatures
    )


def most_wishes(choices: Choices) -> int:
    """Return a bound on the wishes met, whatever starts: every run on a host that it wishes for."""
    best = 0
    for each in choices.signatures:
        for index in each.members:
            own, figure = choices.classes[index], wishes(choices.grid, index)
            best += own.count * (own.ask.tasks or 0) * max(0, int(figure.max(initial=0)))
    return best


def trivial(choices: Choices, figure: Figure, values: Sequence[int], *, maximise: bool) -> int:
    """Return a bound on that sum: each worker on the host where it is best."""
    bound = 0
    for each in choices.signatures:
        workers = choices.workers_started(each).at(values)
        if workers:
            own = np.concatenate([figure(choices.grid, index) for index in each.members])
            bound += workers * int(own.max() if maximise else own.min())
    return bound


def _nothing(grid: Grid, index: int) -> Ints:
    return np.zeros(len(grid.where[index]), np.int64)
