"""Deals: what hosts come to for a run of several workers, where all of them are priced together.

What one node costs depends on the others: on the slowest start, the slowest accelerator, and how
often any is interrupted. So for each of these that there could be a deal holds the hosts that keep
to it, each with its own exact bill, and bills add up. The nodes that a run gets are then on terms
no better than those of the deal that they are the best of.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from stowplan.model.estimating.together import Terms
from stowplan.model.money import HOUR_S
from stowplan.solver.asks import Ask
from stowplan.solver.ladder import Group
from stowplan.solver.money.appraisal import Appraisal
from stowplan.solver.money.caps import Cap, best_set
from stowplan.solver.money.prices import Bools, Ints, Priced


@dataclass(frozen=True, eq=False)
class Bills:
    """What one worker comes to on each host of a deal, on its terms: micro-dollars."""

    rate: Ints
    ranked_rate: Ints
    risked_rate: Ints
    cost: Ints
    cost_p90: Ints
    risked: Ints

    def only(self, kept: Bools) -> Bills:
        """Return the same of some hosts."""
        return Bills(*(getattr(self, each.name)[kept] for each in fields(self)))


@dataclass(frozen=True, eq=False)
class Deal:
    """Hosts on which a run may be, and what it comes to there; an array for each figure."""

    ask: Ask
    group: Group
    base: Priced
    """The run on any host by itself."""
    hosts: Ints
    """Their places, ascending."""
    most: Ints
    """How many workers of one run each of them takes."""
    share: Ints
    """Which share each host is in: those that are interrupted alike."""
    needs: tuple[int, ...]
    """How many workers are in each share."""
    wanted: Bools
    """The hosts of which there is one at least."""
    bills: Bills
    terms: Terms
    finish_s: int
    finish_p90_s: int
    """No earlier than it ends on any of its hosts."""
    units: Ints | None = None
    """The rack, or fabric, over which the run's workers are spread."""
    caps: tuple[Cap, ...] = ()
    """What all workers of a run come to at most."""
    appraisal: Appraisal | None = None
    """What it is worth to a run."""

    def only(self, kept: Bools) -> Deal:
        """Return the same on some of its hosts."""
        return replace(
            self,
            hosts=self.hosts[kept],
            most=self.most[kept],
            share=self.share[kept],
            wanted=self.wanted[kept],
            bills=self.bills.only(kept),
            units=None if self.units is None else self.units[kept],
        )

    def least(self, figure: Ints) -> int | None:
        """Return the least that a figure of all its workers comes to; None: no run fits."""
        chosen = best_set(self, figure, self.caps)
        return None if chosen is None else int((figure * chosen).sum())

    @property
    def start_s(self) -> int:
        """When the slowest does useful work."""
        return self.terms.start_s.p50

    @property
    def seconds(self) -> int:
        """How long the run likely takes; an hour where that isn't known."""
        return self.terms.running.p50 if self.terms.running else HOUR_S

    @property
    def is_total(self) -> bool:
        """Whether it is known how long the run takes."""
        return self.terms.running is not None

    @cached_property
    def priced(self) -> Priced:
        """The run on these hosts, by all hosts."""
        base = self.base
        return replace(
            base,
            cost=self._over_all(self.bills.cost),
            cost_p90=self._over_all(self.bills.cost_p90),
            risked=self._over_all(self.bills.risked),
            start_s=np.full_like(base.start_s, self.start_s),
            finish_s=np.full_like(base.finish_s, self.finish_s),
        )

    def _over_all(self, figure: Ints) -> Ints:
        found = np.zeros(len(self.base.rate), np.int64)
        found[self.hosts] = figure
        return found
