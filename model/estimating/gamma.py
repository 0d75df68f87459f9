"""The gamma law: how long so many uptimes last together, in fixed point.

A sum of m independent gamma times of shape k and scale 1 is again one, of shape m * k. So the
time until the m-th interruption has a closed form, which no other law for skewed times gives.
"""

from __future__ import annotations

import math
from functools import cache

UNIT = 2**24
"""Thresholds are whole multiples of 1 / UNIT of the scale: no float leaves this module."""

MOST = 128
"""Ends counted one by one. Beyond, each follows as soon as the 128th did: a little too soon."""

STEPS = 16
"""Shapes stand so many to a doubling: a p90 up to 17 times the p50 is met within a tenth."""

LOWEST, HIGHEST = -3 * STEPS, 4 * STEPS
"""Shapes from 1/8 (a p90 148 times the p50) to 16 (1.36 times: nearly regular)."""


def shape_at(step: int) -> float:
    """Return the shape at a step of the grid; step 0 is the exponential law."""
    return float(2 ** (step / STEPS))


def share_below(shape: float, x: float) -> float:
    """Return the chance that a gamma time of this shape, at scale 1, is at most x.

    The regularised lower incomplete gamma function: its series below shape + 1, its continued
    fraction above (NIST Digital Library of Mathematical Functions, 8.11.4 and 8.9.2).
    """
    if x <= 0:
        return 0.0
    front = math.exp(shape * math.log(x) - x - math.lgamma(shape + 1))
    if x < shape + 1:
        term = total = 1.0
        over = shape
        while term > total * 1e-16:
            over += 1
            term *= x / over
            total += term
        return front * total
    lower = x + 1 - shape
    ratio, inverse = 1e300, 1 / lower
    fraction, index = inverse, 0
    while True:  # Lentz's method
        index += 1
        step = -index * (index - shape)
        lower += 2
        inverse = 1 / (step * inverse + lower)
        ratio = lower + step / ratio
        fraction *= ratio * inverse
        if abs(ratio * inverse - 1) < 1e-15:
            return 1 - front * shape * fraction


def quantile(shape: float, share: float, low: int = 0) -> int:
    """Return the largest time, in UNITs, within which a gamma time ends with at most this chance.

    Found by bisection over whole numbers, from one that isn't above it.
    """
    high = low + UNIT
    while share_below(shape, high / UNIT) <= share:
        low, high = high, high + 2 * (high - low)
    while high - low > 1:
        middle = (low + high) // 2
        if share_below(shape, middle / UNIT) <= share:
            low = middle
        else:
            high = middle
    return low


@cache
def thresholds(step: int, percent: int) -> tuple[int, ...]:
    """Return for m = 1 .. MOST the time in UNITs past which more than m - 1 ends are to be counted.

    Up to it the m-th end has come with a chance of at most 100 - percent in a hundred: then fewer
    than m suffice, `percent` times in a hundred. They never fall.
    """
    shape, share = shape_at(step), (100 - percent) / 100
    found = [quantile(shape, share)]
    for m in range(2, MOST + 1):
        found.append(quantile(m * shape, share, found[-1]))
    return tuple(found)


@cache
def fitted_step(p50: int, p90: int) -> int:
    """Return the step of the shape whose ratio of p90 to p50 is nearest, and not the smaller."""
    low, high = LOWEST, HIGHEST  # the ratio falls as the shape grows
    while low < high:
        middle = (low + high + 1) // 2
        at_90, at_50 = _quantiles(middle)
        if at_90 * p50 >= p90 * at_50:
            low = middle
        else:
            high = middle - 1
    return low


@cache
def _quantiles(step: int) -> tuple[int, int]:
    shape = shape_at(step)
    return quantile(shape, 0.9), quantile(shape, 0.5)


def p50_of(step: int) -> int:
    """Return the median at scale 1, in UNITs."""
    return _quantiles(step)[1]


def p90_of(step: int) -> int:
    """Return the 90th percentile at scale 1, in UNITs."""
    return _quantiles(step)[0]
