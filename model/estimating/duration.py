"""How long a run's own work takes, how sure that is, and who says so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple

from stowplan.model.fleet import Machine, Offering
from stowplan.model.knowledge import Card, Durations
from stowplan.model.money import ceil_div
from stowplan.model.runs import Run

FEWEST = 3
"""Past runs below which a history says nothing."""

LONGEST_S = 10**10
"""The most that a number of seconds in a snapshot can be."""

type Source = Literal["declared", "measured", "history"]


class Likely(NamedTuple):
    """A figure as likely (p50), and at worst but one time in ten (p90)."""

    p50: int
    p90: int


class RunningTime(NamedTuple):
    """The seconds that the work runs, startup and interruptions aside."""

    seconds: Likely
    source: Source


def running_time(
    run: Run, family: str | None, durations: Iterable[Durations], p90_factor: float
) -> RunningTime | None:
    """Return how long a run's work takes on a family of accelerators; None where nobody knows.

    The first of: what was declared, what was measured, the history. The p90 of one figure is that
    figure times `policy.bands.duration_p90_factor`, and never below it; a history has its own.
    """
    if run.expected_duration_s is not None:
        return RunningTime(_spread(run.expected_duration_s, p90_factor), "declared")
    if run.measured_duration_s is not None:
        return RunningTime(_spread(run.measured_duration_s, p90_factor), "measured")
    sample = _alike(run, family, durations)
    if len(sample) < FEWEST:
        return None
    return RunningTime(Likely(median(sample), ninetieth(sample)), "history")


def _alike(run: Run, family: str | None, durations: Iterable[Durations]) -> Sequence[int]:
    """Return the times of runs with the same labels, no more and no fewer, on the same family.

    A run without labels has no history: nothing says that other unlabelled runs are like it.
    """
    if not run.labels or family is None:
        return ()
    return [
        seconds
        for past in durations
        if past.family.casefold() == family.casefold() and dict(past.labels) == dict(run.labels)
        for seconds in past.seconds
    ]


def _spread(seconds: int, p90_factor: float) -> Likely:
    return Likely(seconds, max(seconds, min(LONGEST_S, ceil_product(seconds, p90_factor))))


def median(sample: Sequence[int]) -> int:
    """Return the middle of a sample; between two middles the mean, rounded up."""
    ordered, half = sorted(sample), len(sample) // 2
    if len(ordered) % 2:
        return ordered[half]
    return ceil_div(ordered[half - 1] + ordered[half], 2)


def ninetieth(sample: Sequence[int]) -> int:
    """Return the least value that nine tenths of a sample don't exceed (the nearest rank)."""
    return sorted(sample)[ceil_div(9 * len(sample), 10) - 1]


@lru_cache(4096)
def as_written(number: float) -> Fraction:
    """Return a number of a snapshot exactly as it was written: 0.1 is a tenth."""
    return Fraction(str(number))


def ceil_product(whole: int, factor: float) -> int:
    """Return a whole number times a factor as it was written, rounded up."""
    exact = whole * as_written(factor)
    return ceil_div(exact.numerator, exact.denominator)


def family_of(host: Machine | Offering, cards: Iterable[Card]) -> str | None:
    """Return the family of a host's accelerators; None where it has none, several, or unknown.

    An offering may say it itself; else it is that of the card model in `knowledge.cards`.
    """
    if isinstance(host, Offering):
        if host.accelerator is None:
            return None
        if host.accelerator.family is not None:
            return host.accelerator.family
        models = {host.accelerator.model.casefold()}
    else:
        models = {device.model.casefold() for device in host.devices}
    known = {card.model.casefold(): card.family for card in cards}
    families = {known.get(model) for model in models}
    return families.pop() if len(families) == 1 else None
