"""What each tier could weigh at most, beside what starts above it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stowplan.solver.bound import most_weight, weight
from stowplan.solver.choices import Choices
from stowplan.solver.layout import Layout
from stowplan.solver.program.linear import Goal, Row
from stowplan.solver.program.relaxed import relaxed
from stowplan.solver.program.search import Limits as SearchLimits
from stowplan.solver.program.search import search
from stowplan.solver.values import values_of

OF_CEILING = 0.1
"""The share of the stage's time for one bound over cells by search."""

type Started = Sequence[Sequence[int]]
"""How many runs start, by class and cohort."""


class Bounds:
    """Bounds on the weight of each tier, with what starts in the tiers above it fixed.

    The linear relaxation proves them in milliseconds; a search may prove better ones. Each is
    remembered by what starts above.
    """

    def __init__(self, choices: Choices, others: Bounds | None = None) -> None:
        """Bound nothing yet but what others do, over a program of the same hosts and runs."""
        self.choices = choices
        self._others = others
        self.tiers = sorted({each.ask.priority for each in choices.classes}, reverse=True)
        self._goals = {tier: Goal(weight(choices, tier), maximise=True) for tier in self.tiers}
        self._proven: dict[tuple[int, object], int] = {}

    def goal(self, tier: int) -> Goal:
        """Return the weight of a tier."""
        return self._goals[tier]

    def of(self, started: Started) -> tuple[int, ...]:
        """Return the bound of each tier beside what starts above it, the highest first."""
        return tuple(self.bound(tier, started) for tier in self.tiers)

    def is_best(self, layout: Layout) -> bool:
        """Whether no tier could have more, beside those above; stops at the first that could."""
        weights = zip(self.tiers, layout.weights(), strict=True)
        return all(own >= self.bound(tier, layout.started) for tier, own in weights)

    def is_near(self, layout: Layout, gap: float) -> bool:
        """Whether a layout is near the bounds of the tiers, see `are_near`."""
        bounds = (self.bound(tier, layout.started) for tier in self.tiers)
        return are_near(layout.weights(), bounds, gap)

    def prove(self, tier: int, started: Started, bound: int) -> None:
        """Remember a bound that a search proved beside what starts above."""
        key = (tier, self._above(tier, started))
        self._proven[key] = min(bound, self._proven.get(key, bound))

    def bound(self, tier: int, started: Started) -> int:
        """Return the bound of one tier beside what starts above it."""
        key = (tier, self._above(tier, started))
        if key not in self._proven:
            fixed = self.choices.fixed(started, above=tier)
            values = [0] * len(self.choices.program.upper)
            for column, value in fixed.items():
                values[column] = value
            trivial = most_weight(self.choices, tier)
            rows = tuple(self.choices.settled(started, above=tier))
            found = relaxed(self.choices.program, self._goals[tier], values, fixed, trivial, rows)
            other = self._others.bound(tier, started) if self._others else found.bound
            self._proven[key] = min(found.bound, other)
        return self._proven[key]

    def price(self, layout: Layout) -> int:
        """Return how much more the tiers could weigh at most, beyond their bounds, had other runs
        of the same weight been chosen above them."""
        program, price = self.choices.program, 0
        rows: list[Row] = []
        for tier, own in zip(self.tiers, layout.weights(), strict=True):
            goal = self._goals[tier]
            if rows:
                trivial = most_weight(self.choices, tier)
                most = relaxed(program, goal, [0] * len(program.upper), {}, trivial, rows).bound
                price += max(0, most - self.bound(tier, layout.started))
            rows.append(goal.terms >= own)
        return price

    def _above(self, tier: int, started: Started) -> object:
        return tuple(
            tuple(counts)
            for each, counts in zip(self.choices.classes, started, strict=True)
            if each.ask.priority > tier
        )


def are_near(weights: Iterable[int], bounds: Iterable[int], gap: float) -> bool:
    """Whether the tiers from the highest to any other miss no more than this share together.

    So a low tier, however large, doesn't hide what a high one misses.
    """
    missing = most = 0
    for own, bound in zip(weights, bounds, strict=True):
        missing, most = missing + bound - own, most + bound
        if missing > gap * most:
            return False
    return True


def least_at_risk(choices: Choices, layout: Layout) -> int:
    """Return how few GPUs at risk could do for what a layout starts, by the linear relaxation.

    Of runs with several options any may be taken that the program has.
    """
    goal = Goal(choices.at_risk_taken(), maximise=False)
    fixed, values = choices.fixed(layout.started), values_of(choices, layout)
    rows = tuple(choices.settled(layout.started))
    return relaxed(choices.program, goal, values, fixed, 0, rows).bound


@dataclass(frozen=True)
class Lead:
    """What a search may begin with: a layout, and bounds of a program that takes hosts together."""

    layout: Layout
    """Over the grid that is searched."""
    ceilings: Ceilings


@dataclass(frozen=True)
class Ceilings:
    """Bounds on the weight of each tier, whatever starts above it so long as it weighs as much."""

    choices: Choices
    """The program, over cells."""
    known: Layout
    """A layout over its grid."""

    def bound(self, tier: int, above: Mapping[int, int], limits: SearchLimits) -> int:
        """Return the most that a tier could weigh where those above weigh what is given."""
        choices, program = self.choices, self.choices.program
        goal = Goal(weight(choices, tier), maximise=True)
        rows = tuple(weight(choices, higher) >= least for higher, least in above.items())
        trivial = most_weight(choices, tier)
        bound = relaxed(program, goal, [0] * len(program.upper), {}, trivial, rows).bound
        hint = values_of(choices, self.known)
        if goal.terms.at(hint) == bound or any(not holds(row, hint) for row in rows):
            return bound
        found = search(program, goal, hint, limits, trivial=bound, also=rows)
        return min(bound, found.bound)


def holds(row: Row, values: Sequence[int]) -> bool:
    """Whether values keep a row."""
    at = sum(value * values[column] for column, value in row.terms.items())
    return row.low <= at <= row.high
