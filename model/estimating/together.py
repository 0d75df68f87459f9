"""A run of several workers on many hosts at once, priced as `gang.gang_outlook` prices it.

Arrays have a host in each column and two rows, likely (p50) and at worst (p90).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stowplan.model.estimating.columns import Whole, over, product
from stowplan.model.estimating.duration import Likely
from stowplan.model.estimating.estimates import Tariffs, billed, certain, charged, loading
from stowplan.model.estimating.parts import needs_of
from stowplan.model.money import MICRO, ceil_div
from stowplan.model.runs import Run


class Terms(NamedTuple):
    """What the nodes of a run have in common, likely and at worst."""

    start_s: Likely
    running: Likely | None
    """Of the slowest; None where it isn't known on one of them."""
    counted: Likely = Likely(0, 0)
    """Interruptions of all its nodes, in millionths."""
    waited: Likely = Likely(0, 0)
    """Restarts: seconds, in millionths."""


class Nodes:
    """What each host would bring to a run, as a node of it."""

    def __init__(self, run: Run, tariffs: Tariffs) -> None:
        """Work out starts and restarts."""
        self.tariffs, self._needs = tariffs, needs_of(run)
        needs = self._needs
        first = loading(needs.image_mib, needs.restore_mib, tariffs)
        self.start_s = tariffs.start_s + first
        """Until a node does useful work; and how much of that isn't billed."""
        self.start_free = tariffs.start_s - tariffs.start_billed_s
        self.again_s = tariffs.boot_s + loading(needs.image_mib, needs.saved_mib, tariffs)
        self.again_free = tariffs.boot_s - tariffs.boot_billed_s

    def counts(self, running: Likely) -> Whole:
        """Return the interruptions of each host, in millionths; two rows."""
        counted: Whole = self.tariffs.kinds.counted(running)[:, self.tariffs.kind]
        return counted

    def extra_s(self, terms: Terms, level: int) -> int:
        """Return how much longer interruptions make the run."""
        if terms.running is None:
            return 0
        lost = terms.running[level]
        if self._needs.interval_s is not None:
            lost = min(self._needs.interval_s, lost)
        redone = ceil_div(terms.counted[level] * lost, 2 * MICRO)
        return redone + ceil_div(terms.waited[level], MICRO)

    def finish_s(self, terms: Terms, level: int) -> int:
        """Return when the run is done; when it has started, where no time is known."""
        running = terms.running[level] if terms.running else 0
        return terms.start_s[level] + running + self.extra_s(terms, level)

    def costs(self, terms: Terms) -> Whole:
        """Return what each host costs as a node of a run on these terms; two rows."""
        tariffs = self.tariffs
        start = np.array(terms.start_s).reshape(2, 1) - self.start_free
        if terms.running is None:
            return certain(start, tariffs)
        own = product(self.counts(terms.running), self.again_free)
        waits = np.array(terms.waited, dtype=own.dtype).reshape(2, 1) - own
        lost = [
            self.extra_s(terms, level) - ceil_div(terms.waited[level], MICRO) for level in (0, 1)
        ]
        shared = [terms.running[level] + lost[level] for level in (0, 1)]
        used = start + np.array(shared).reshape(2, 1) + over(waits, MICRO) + tariffs.teardown_s
        return charged(tariffs.rate, billed(used, tariffs))

    def risked(self, cost: Whole) -> Whole:
        """Return costs as they rank where starts have failed."""
        return over(product(cost, self.tariffs.tried), self.tariffs.started)
