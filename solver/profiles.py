"""What runs choose by: first their value, then what each profile prefers among hosts as good.

Each figure is that of one worker on each of a class's hosts; a stage sums it over all that starts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from stowplan.model.money import MICRO
from stowplan.model.runs import Profile
from stowplan.solver.appraisal import Tier
from stowplan.solver.asks import Ask
from stowplan.solver.choices import Choices
from stowplan.solver.grid import Grid
from stowplan.solver.prices import Ints, Prices
from stowplan.solver.program.linear import Sum, total

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
    unit = 1 + sum(own.count * (own.ask.tasks or 0) for own in grid.classes)
    worth = {Tier.POOL: unit * unit + unit, Tier.PREFERRED: unit, Tier.PLAIN: 0, Tier.BEYOND: -1}
    figure = np.zeros(len(each.tier), np.int64)
    for tier, own in worth.items():
        figure[each.tier == tier] = own
    return figure


def regret(grid: Grid, index: int) -> Ints:
    """Micro-dollars by which a host is worse than the best."""
    each = grid.appraisals[index]
    return _nothing(grid, index) if each is None else each.regret


def fit(prices: Prices, ask: Ask) -> Ints:
    """Return by host how much of it a worker uses, in millionths: of its GPUs; of its cores where
    the worker has none."""
    whole = np.maximum(1, prices.gpus if ask.gpus else prices.millicores)
    return np.minimum(ask.gpus or ask.millicores, whole) * MICRO // whole


def _warm(prices: Prices, _: Ask) -> Ints:
    return prices.warm.astype(np.int64)


FAILED = Preference(
    "recent_failures", lambda prices, _: prices.failed_lately.astype(np.int64), maximise=False
)
OWN: Sequence[Preference] = (
    Preference("health", lambda prices, _: prices.health, True, ("balanced",)),
    Preference("start", lambda prices, _: prices.start_s, False, ("balanced",)),
    Preference("warm", _warm, True, ("cost",)),
    Preference("fit", fit, True, ("balanced", "cost")),
    Preference("warm_at_last", _warm, True, ("balanced",)),
)
"""What a profile prefers at last: balanced health, start, fit, warm; cost warm, fit."""


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
