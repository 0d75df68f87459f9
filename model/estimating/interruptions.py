"""Interruptions: how often an interruptible instance is taken back while a run works on it.

Likely (p50): the rate that is given, times the running hours. At worst (p90): the count that isn't
exceeded nine times in ten, where uptimes follow a gamma law through their two known quantiles.

Why gamma: uptimes are skewed, many short and a few very long. Through the published quantiles of
AWS V100 spot (p50 0.65 h, p90 6.0 h) the gamma law has a mean of 2.1 h, a Weibull 2.25 h and a
log-normal 2.9 h; measured was 2.0 h. And its sums are gamma again, so that the count over any time
is exact. With shape 1 it is the exponential law, whose count is the Poisson: the fallback where
only a rate is known is a case of it.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from stowplan.model.estimating.duration import Likely, as_written
from stowplan.model.estimating.gamma import MOST, UNIT, fitted_step, p50_of, p90_of, thresholds
from stowplan.model.fleet import Reclaims
from stowplan.model.money import HOUR_S, MICRO, ceil_div

EXPONENTIAL = 0
"""The step of the shape 1."""

PUBLISHED = Reclaims(per_hour=0.5, uptime_p50_s=2340, uptime_p90_s=21600)
"""Published for AWS V100 spot (mean uptime 2.0 h): taken where nothing is known."""

MOST_OFTEN = 3600 * MICRO
"""One interruption a second, in millionths an hour: none is counted more often."""


@dataclass(frozen=True)
class Law:
    """A gamma law of uptimes: the step of its shape, and its scale in whole seconds."""

    step: int
    scale_s: int


@dataclass(frozen=True)
class Interruptions:
    """How often an instance is taken back, and who says so."""

    per_hour: int | None
    """Millionths of an interruption in an hour of running; none: by the law's median."""
    law: Law | None
    """None: never."""
    source: str
    is_known: bool = True

    def expected(self, running_s: int) -> int:
        """Return the likely number in so long, in millionths, rounded up."""
        if self.per_hour is None:
            return _counted(self.law, running_s, 50) * MICRO
        return ceil_div(self.per_hour * running_s, HOUR_S)

    def at_worst(self, running_s: int) -> int:
        """Return the number in so long that isn't exceeded nine times in ten, in millionths."""
        counted = _counted(self.law, running_s, 90) * MICRO
        return max(counted, self.expected(running_s))

    def over(self, running: Likely) -> Likely:
        """Return both, each over its own running time. Longer running never has fewer."""
        return Likely(self.expected(running.p50), self.at_worst(running.p90))


def _counted(law: Law | None, running_s: int, percent: int) -> int:
    if law is None or running_s <= 0:
        return 0
    passed = ceil_div(running_s * UNIT, law.scale_s)
    limits = thresholds(law.step, percent)
    if passed <= limits[-1]:
        return bisect_left(limits, passed)
    return MOST + (passed - limits[-1] - 1) // last_gap(limits)


def last_gap(limits: tuple[int, ...]) -> int:
    """Return the time between the last two thresholds, by which the count goes on."""
    return max(1, limits[-1] - limits[-2])


def interruptions_of(reclaims: Reclaims | None) -> Interruptions:
    """Return what is known of an interruptible offering, whole and rounded towards more of them.

    - Both quantiles of uptime: a law through them, which keeps the p50 and takes the nearest shape
      that reaches the p90. A rate, where it is given too, says what is likely.
    - A rate alone, or with one quantile: a Poisson.
    - One quantile alone: an exponential law through it.
    - Nothing: as published for AWS V100 spot, and said to be unknown.
    """
    known = reclaims or Reclaims()
    rate = None if known.per_hour is None else _millionths(known.per_hour)
    p50, p90 = known.uptime_p50_s, known.uptime_p90_s
    said = _said(known)
    if p50 is not None and p90 is not None:
        fit = f"p90 by uptimes of {p50} s (p50) and {p90} s (p90)"
        likely = "p50 by their median" if rate is None else f"p50 by {known.per_hour} an hour"
        return Interruptions(rate, law_through(p50, p90), f"{likely}, {fit}{said}")
    if rate is not None:
        law = Law(EXPONENTIAL, max(1, HOUR_S * MICRO // rate)) if rate else None
        return Interruptions(rate, law, f"{known.per_hour} an hour, p90 as of a Poisson{said}")
    if p50 is not None:
        law = Law(EXPONENTIAL, max(1, p50 * UNIT // p50_of(EXPONENTIAL)))
        return Interruptions(None, law, f"exponential uptimes of {p50} s (p50){said}")
    if p90 is not None:
        law = Law(EXPONENTIAL, max(1, p90 * UNIT // p90_of(EXPONENTIAL)))
        return Interruptions(None, law, f"exponential uptimes of {p90} s (p90){said}")
    published = interruptions_of(PUBLISHED)
    words = f"unknown: as published for AWS V100 spot, {published.source}"
    return Interruptions(published.per_hour, published.law, words, is_known=False)


def law_through(p50_s: int, p90_s: int) -> Law:
    """Return the law through two quantiles; a p90 below the p50 counts as equal to it."""
    p50 = max(1, p50_s)
    step = fitted_step(p50, max(p50, p90_s))
    return Law(step, max(1, p50 * UNIT // p50_of(step)))


def _millionths(per_hour: float) -> int:
    exact = as_written(per_hour) * MICRO
    return min(MOST_OFTEN, ceil_div(exact.numerator, exact.denominator))


def _said(known: Reclaims) -> str:
    sure = f"{known.confidence} confidence" if known.confidence else None
    told = ", ".join(note for note in (known.source, sure) if note)
    return f" ({told})" if told else ""
