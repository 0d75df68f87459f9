"""Large neighbourhoods: solve again for a few hosts at a time, all others as they are.

For objectives that the whole model is too large to search: CP-SAT finds the best for a few hosts
in a fraction of a second. Which hosts are taken together is drawn with the seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from stowplan.solver import points
from stowplan.solver.bound import weight
from stowplan.solver.cells import apart, signatures
from stowplan.solver.choices import Choices
from stowplan.solver.interrupt import Interrupt
from stowplan.solver.layout import Layout
from stowplan.solver.limits import Limits as Shared
from stowplan.solver.linear import ZERO, Goal, Sum
from stowplan.solver.search import Found, Limits, search

EACH = 0.02
"""Deterministic time for one neighbourhood."""


JOINING = 24
"""How many classes of which runs wait may join in one neighbourhood."""
MOST = 2**50
"""Objectives stay below it: no sum of theirs overflows."""


class Gain(NamedTuple):
    """What a neighbourhood brought."""

    amount: int
    """By how much its objective is better."""
    found: Found


class Neighbourhoods:
    """A layout, improved a few hosts at a time."""

    def __init__(self, layout: Layout, shared: Shared, limits: Limits, interrupt: Interrupt):
        """Start from a layout, which is changed in place."""
        self.layout = layout
        self.draw = random.Random(limits.seed)
        self._shared = shared
        self._limits = replace(limits, deterministic=EACH)
        self._interrupt = interrupt
        self._signature = {each.members[0]: each for each in signatures(layout.grid)}

    def start_more(self, hosts: Sequence[int]) -> Gain:
        """Start more weight on these hosts, tier before tier; all else stays."""
        layout = self.layout
        waiting = [index for index in self._signature if layout.waiting(index)]
        drawn = self.draw.sample(waiting, min(JOINING, len(waiting)))
        return self._solve(hosts, _weights, True, joining=drawn)

    def spare_at_risk(self, hosts: Sequence[int]) -> Gain:
        """Give out fewer GPUs at risk on these hosts, for the same runs."""
        return self._solve(hosts, Choices.at_risk_taken, False)

    def earn_points(self, hosts: Sequence[int]) -> Gain:
        """Earn more points on these hosts, for the same runs and no more GPUs at risk."""
        return self._solve(hosts, points.objective, True, keep=Choices.at_risk_taken)

    def _solve(
        self,
        hosts: Sequence[int],
        terms_of: Callable[[Choices], Sum],
        maximise: bool,
        joining: Collection[int] | None = None,
        keep: Callable[[Choices], Sum] | None = None,
    ) -> Gain:
        """Solve for these hosts, and take what is found.

        Without `joining`, as many runs of each class start as before; what `keep` gives doesn't
        rise.
        """
        layout = self.layout
        members = {index for host in hosts for index, _ in layout.on(host)} | set(joining or ())
        choices = Choices(
            layout.grid,
            self._shared,
            apart(layout.grid, hosts),
            [self._signature[index] for index in sorted(members)],
            others=layout,
            joining=() if joining is None else members,
        )
        goal = Goal(terms_of(choices), maximise)
        hint = choices.values_of(layout)
        kept = keep(choices) if keep else ZERO
        found = search(
            choices.program,
            goal,
            hint,
            self._limits,
            trivial=choices.program.range(goal.terms)[maximise],
            also=[kept <= kept.at(hint)] if kept else [],
            interrupt=self._interrupt,
        )
        choices.settle(found.values, layout)
        return Gain(abs(found.objective - goal.terms.at(hint)), found)


def _weights(choices: Choices) -> Sum:
    """Return the weight that starts, a higher tier's worth more than all below it together."""
    goal, unit = ZERO, 1
    for tier in sorted({each.ask.priority for sig in choices.signatures for each in sig.classes}):
        own = weight(choices, tier)
        low, high = choices.program.range(own)
        if unit * high < MOST:
            goal += own * unit
            unit *= 1 + high - low
    return goal
