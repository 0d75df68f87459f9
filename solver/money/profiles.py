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
from stowplan.solver.money.appraisal import Appraisal, Tier
from stowplan.solver.money.prices import Ints, Priced, Prices
from stowplan.solver.program.linear import Sum, total

LARGEST = 2**53
"""What sums must stay below, so that they are exact everywhere."""

type Figure = Callable[[Grid, int], Ints]
"""A figure of one worker of a class, by the hosts that it could be on."""


class Preference(NamedTuple):
    """A figure of one worker on every host, and which way is better.

    Of what is to be most it is what is missing, so that it can be compared between shapes.
    """

    name: str
    by_host: Callable[[Prices, Ask, Priced], Ints]
    maximise: bool
    profiles: Sequence[Profile] = ("balanced", "cost", "speed")
    """Those that look at it."""
    is_of_run: bool = False
    """Whether it is the same for all workers of a run, and counts once for it."""

    @property
    def sign(self) -> int:
        """By what to multiply so that the lower is the better."""
        return -1 if self.maximise else 1

    def figure(self, grid: Grid, index: int) -> Ints:
        """Return the figure by the hosts of a class: 0 where its profile doesn't look at it."""
        each = grid.appraisals[index]
        if each is None or not self._counts(grid, index) or (self.is_of_run and each.of_run):
            return _nothing(grid, index)
        return self._by_host(grid, index)[each.hosts]

    def of_run(self, grid: Grid, index: int) -> int:
        """Return the figure of a run that is priced as a whole, where it counts once."""
        each = grid.appraisals[index]
        if each is None or not self._counts(grid, index) or not (self.is_of_run and each.of_run):
            return 0
        return int(self._by_host(grid, index)[each.hosts].max(initial=0))

    def _counts(self, grid: Grid, index: int) -> bool:
        each = grid.appraisals[index]
        return each is not None and each.profile in self.profiles

    def _by_host(self, grid: Grid, index: int) -> Ints:
        own, prices = grid.classes[index], grid.eligibility.prices
        priced = own.deal.priced if own.deal else prices.of(own.ask)
        assert priced is not None  # only then do profiles choose
        return self.by_host(prices, own.ask, priced)


type OfRuns = Callable[[Grid, int], int]
"""What a run of a class comes to on top of its workers, where it is priced as a whole."""


def wishes(grid: Grid, index: int) -> Ints:
    """In the pool that the run names, then interruptible as it prefers; not too dear for speed."""
    each = grid.appraisals[index]
    if each is None or each.of_run:
        return _nothing(grid, index)
    return _wishes(grid)[each.tier]


def wishes_of_run(grid: Grid, index: int) -> int:
    """The same of a run that is in one tier with all its workers."""
    each = grid.appraisals[index]
    if each is None or not each.of_run or not len(each.tier):
        return 0
    return int(_wishes(grid)[each.tier[0]])


def _wishes(grid: Grid) -> Ints:
    """Return what a run in each tier counts: one in a better tier more than all in worse."""
    _, preferring, _, hurrying = grid.workers_by_tier
    of_preferred = 1 + hurrying
    of_pool = of_preferred * (2 + preferring)
    return np.array([of_pool, of_preferred, 0, -1], np.int64)


def regret_of_run(grid: Grid, index: int) -> int:
    """Micro-dollars of regret on top of what its hosts come to."""
    each = grid.appraisals[index]
    return each.of_run.regret if each is not None and each.of_run else 0


def excess_of_run(grid: Grid, index: int) -> int:
    """By how much the measure of a run is above the best, less what its hosts come to."""
    each = grid.appraisals[index]
    if each is None or not each.of_run or int(each.tier.max(initial=0)) == Tier.BEYOND:
        return 0
    return each.of_run.measure - each.lowest


def regret(grid: Grid, index: int) -> Ints:
    """Micro-dollars by which a host is worse than the best."""
    each = grid.appraisals[index]
    return _nothing(grid, index) if each is None else each.regret


def fit(prices: Prices, ask: Ask) -> Ints:
    """Return by host how much of it a worker uses, in millionths: of its GPUs; of its cores where
    the worker has none."""
    whole = np.maximum(1, prices.gpus if ask.gpus else prices.millicores)
    return np.minimum(ask.gpus or ask.millicores, whole) * MICRO // whole


def _cost(_: Prices, __: Ask, priced: Priced) -> Ints:
    return priced.risked


def _price(_: Prices, ask: Ask, priced: Priced) -> Ints:
    return priced.risked if ask.profile == "cost" else priced.ranked_rate


def _start(_: Prices, __: Ask, priced: Priced) -> Ints:
    return priced.start_s


def _warm(prices: Prices, _: Ask, __: Priced) -> Ints:
    return prices.warm.astype(np.int64) - 1


def _health(prices: Prices, _: Ask, __: Priced) -> Ints:
    return prices.health - MICRO


def _fit(prices: Prices, ask: Ask, _: Priced) -> Ints:
    return fit(prices, ask) - MICRO


def excess(grid: Grid, index: int) -> Ints:
    """By how much a host's measure is above the best, where hosts have the same regret."""
    each = grid.appraisals[index]
    if each is not None and each.of_run:
        is_beyond = int(each.tier.max(initial=0)) == Tier.BEYOND
        return _nothing(grid, index) if is_beyond else each.measure
    return _nothing(grid, index) if each is None or not _ties(each) else each.excess


def _ties(each: Appraisal) -> bool:
    """Whether hosts of one tier differ in their measure, and not in their regret."""
    order = np.lexsort((each.measure, each.regret, each.tier))
    tier, regrets, measure = (np.diff(own[order]) for own in (each.tier, each.regret, each.measure))
    return bool(((tier == 0) & (regrets == 0) & (measure != 0)).any())


def refuse_vast(grid: Grid) -> None:
    """Raise InvalidInput where regrets could add up to more than whole numbers hold exactly."""
    most: dict[str, int] = {}
    for own, each in zip(grid.classes, grid.appraisals, strict=True):
        if each is not None:
            on_hosts = int(each.regret.max(initial=0)) * (own.ask.tasks or 0)
            dearest = (on_hosts + abs(each.of_run.regret if each.of_run else 0)) * own.count
            most[own.first] = max(dearest, most.get(own.first, 0))
    if sum(most.values()) >= LARGEST:
        run = max(most, key=lambda name: most[name])
        told = f"the hosts of '{run}' differ by up to {in_cents(most[run])} USD: too much to add up"
        path: Path = ("runs", Item(run), "placement")
        raise InvalidInput([Problem(path, told, "give it a lower max_rate_usd_per_hour")])


FAILED = Preference(
    "recent_failures", lambda prices, *_: prices.failed_lately.astype(np.int64), maximise=False
)
OWN: Sequence[Preference] = (
    Preference("cost", _cost, False, ("speed",)),
    Preference("health", _health, True, ("balanced",)),
    Preference("start", _start, False, ("balanced",), is_of_run=True),
    Preference("warm", _warm, True, ("cost",)),
    Preference("fit", _fit, True, ("balanced", "cost")),
    Preference("warm_at_last", _warm, True, ("balanced",)),
    Preference("price", _price, False, ("balanced", "cost")),
)
"""What a profile prefers at last: balanced health, start, fit, warm, the lower rate; cost warm,
fit, the lower cost; speed the cheaper of hosts equally fast."""


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
                times = 1 if appraisal.of_run or own.own else own.ask.tasks or 0
                worth += choices.starts(own).at(values) * times * appraisal.least
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


def summed(choices: Choices, figure: Figure, of_run: OfRuns | None = None) -> Sum:
    """Return the sum of a figure over all that is placed, and of one over the runs."""
    grid = choices.grid
    parts = [
        choices.weighed(each, lambda index: figure(grid, index)) for each in choices.signatures
    ]
    for index, own in enumerate(choices.classes) if of_run else ():
        if of_run and (amount := of_run(grid, index)):
            parts.append(choices.starts(own) * amount)
    return total(parts)


def most_wishes(choices: Choices) -> int:
    """Return a bound on the wishes met, whatever starts: every run on a host that it wishes for."""
    best: dict[str, int] = {}
    for each in choices.signatures:
        for index in each.members:
            own, figure = choices.classes[index], wishes(choices.grid, index)
            of_one = (own.ask.tasks or 0) * int(figure.max(initial=0))
            most = own.count * max(0, of_one, wishes_of_run(choices.grid, index))
            best[own.first] = max(most, best.get(own.first, 0))
    return sum(best.values())


def trivial(
    choices: Choices,
    figure: Figure,
    values: Sequence[int],
    of_run: OfRuns | None = None,
    *,
    maximise: bool,
) -> int:
    """Return a bound on that sum: each worker on the host where it is best, in its best option."""
    bound, best = 0, max if maximise else min
    options: dict[str, list[int]] = {}
    started: dict[str, int] = {}
    for each in choices.signatures:
        if each.classes[0].option is None or choices.others is not None:
            cells = choices.cells_for(each)
            workers = total(choices.workers_in(each, cell) for cell in cells).at(values)
            if workers:  # not those that are elsewhere: the sum leaves them out
                own = np.concatenate([figure(choices.grid, index) for index in each.members])
                bound += workers * int(own.max() if maximise else own.min())
            extras = of_run or _of_no_run
            for index, one in zip(each.members, each.classes, strict=True):
                bound += choices.starts(one).at(values) * extras(choices.grid, index)
            continue
        (index,), (one,) = each.members, each.classes
        there = figure(choices.grid, index)
        of_workers = (one.ask.tasks or 0) * int(there.max() if maximise else there.min())
        extra = of_run(choices.grid, index) if of_run else 0
        options.setdefault(one.first, []).append(of_workers + extra)
        started[one.first] = started.get(one.first, 0) + choices.starts(one).at(values)
    return bound + sum(runs * best(options[first]) for first, runs in started.items() if runs)


def _of_no_run(grid: Grid, index: int) -> int:
    return 0


def _nothing(grid: Grid, index: int) -> Ints:
    return np.zeros(len(grid.where[index]), np.int64)
