"""Interruptions of many hosts at once: equal to `interruptions.Interruptions.over`, to the unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stowplan.model.estimating.columns import Whole, column, over, product
from stowplan.model.estimating.duration import Likely
from stowplan.model.estimating.gamma import MOST, UNIT, thresholds
from stowplan.model.estimating.interruptions import Interruptions, last_gap
from stowplan.model.money import HOUR_S, MICRO


@dataclass(frozen=True, eq=False)
class Kinds:
    """The kinds of interruption that there are; the first is none."""

    per_hour: Whole
    """Millionths; 0 where the law's median says what is likely."""
    by_median: Whole
    """1 where it does, else 0."""
    laws: tuple[tuple[int, Whole, Whole], ...]
    """For each step of the shape: the kinds that have it, and their scales."""

    @property
    def is_any(self) -> bool:
        """Whether any host is ever interrupted."""
        return len(self.per_hour) > 1

    def counted(self, running: Likely) -> Whole:
        """Return a row likely and a row at worst: the interruptions of each kind, in millionths."""
        likely, worst = (self._expected(seconds) for seconds in running)
        counted = self._passed(running.p90, 90) * MICRO
        return np.stack([likely, np.maximum(worst, counted)])

    def _expected(self, seconds: int) -> Whole:
        by_rate = over(product(self.per_hour, seconds), HOUR_S)
        if not self.by_median.any():
            return by_rate
        by_median: Whole = self.by_median * self._passed(seconds, 50) * MICRO
        return by_rate + by_median

    def _passed(self, seconds: int, percent: int) -> Whole:
        """Return how many thresholds of each kind's law a running time passes."""
        passed = np.zeros_like(self.per_hour)
        for step, members, scales in self.laws if seconds else ():
            limits = thresholds(step, percent)
            x = over(seconds * UNIT, scales)
            further = MOST + (x - limits[-1] - 1) // last_gap(limits)
            within = np.searchsorted(column(limits), x)
            passed[members] = np.where(x <= limits[-1], within, further)
        return passed


def kinds_of(hosts: Sequence[Interruptions | None]) -> tuple[Whole, Kinds]:
    """Return which kind of interruption each host has, and the kinds."""
    keys = [None if one is None else (one.per_hour, one.law) for one in hosts]
    kinds = {key: index for index, key in enumerate(dict.fromkeys([None, *keys]))}
    met = [key or (0, None) for key in kinds]
    by_step: dict[int, list[tuple[int, int]]] = {}
    for index, (_, law) in enumerate(met):
        if law is not None:
            by_step.setdefault(law.step, []).append((index, law.scale_s))
    return column([kinds[key] for key in keys]), Kinds(
        per_hour=column([rate or 0 for rate, _ in met]),
        by_median=column([int(rate is None) for rate, _ in met]),
        laws=tuple(
            (step, column([index for index, _ in held]), column([scale for _, scale in held]))
            for step, held in by_step.items()
        ),
    )
