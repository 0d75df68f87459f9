"""Hosts that say the same, put together: what is said of thousands of hosts stays short."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from stowplan.model.reasons import Code, Figure, Reason
from stowplan.solver.explain.answers import Answer
from stowplan.solver.rooms import Ints

MOST_ROWS = 30
"""Rows up to which each figure has a row of its own; past it, one row tells a span of them."""

_FIGURE = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_ASIDE = re.compile(r" \(has .*?\)(?=, |$)")
_OF_A_SPAN = re.compile(
    r"(?P<free>\d\S*(?: to \S+)?) of (?P<whole>\S+ to \S+) (?P<like>matching )?free"
)
_OF_FIGURES = {
    Code.HARDWARE_STALE,
    Code.GPU_FAULTED,
    Code.GPU_DENIED,
    Code.INSUFFICIENT_CPU,
    Code.INSUFFICIENT_MEMORY,
    Code.INSUFFICIENT_GPUS,
    Code.INSUFFICIENT_HEALTHY_GPUS,
    Code.OUTRANKED,
    Code.EXCEEDS_MAX_RATE,
    Code.PRICE_ABOVE_ESTIMATE,
    Code.EXCEEDS_REMAINING_BUDGET,
    Code.MISSES_DEADLINE,
}
"""Codes whose sentences hold no other digits than their figures, so that a span can be told."""


class Said(NamedTuple):
    """Hosts, and what all of them say, or the reasons between which what they say lies."""

    hosts: Ints
    """Their places among all hosts, ascending."""
    kind: int
    """What else they have in common."""
    ends: tuple[tuple[Reason, ...], ...]


class Row(NamedTuple):
    """Hosts that say the same."""

    hosts: Ints
    kind: int
    reasons: tuple[Reason, ...]


def ends(answer: Answer) -> tuple[tuple[Reason, ...], ...]:
    """Return the reasons of hosts alike: once where all say the same, else the two ends."""
    both = (answer.most,) if answer.least is answer.most else (answer.least, answer.most)
    return tuple(tuple(failing.reason for failing in end) for end in both)


def rows(said: Iterable[Said]) -> list[Row]:
    """Return hosts by what they say, in the order of the first of each."""
    all_said = list(said)
    exact = all(len(each.ends) == 1 for each in all_said)
    if exact:
        found = _merged(all_said, lambda reason: (reason.code, reason.message, _told(reason)))
        if len(found) <= MOST_ROWS:
            return found
    return _merged(all_said, _outline)


def _merged(said: Sequence[Said], key_of: Callable[[Reason], object]) -> list[Row]:
    groups: dict[tuple[object, ...], list[Said]] = {}
    for each in said:
        key = (each.kind, *map(key_of, each.ends[0]))
        groups.setdefault(key, []).append(each)
    found = [
        Row(
            members[0].hosts
            if len(members) == 1
            else np.sort(np.concatenate([each.hosts for each in members])),
            members[0].kind,
            _spans([end for each in members for end in each.ends]),
        )
        for members in groups.values()
    ]
    return sorted(found, key=lambda row: int(row.hosts[0]))


def _spans(ends: Sequence[tuple[Reason, ...]]) -> tuple[Reason, ...]:
    if len(ends) == 1:
        return ends[0]
    return tuple(_span(reasons) for reasons in zip(*ends, strict=True))


def _span(reasons: Sequence[Reason]) -> Reason:
    """Return one reason for several alike: each figure that differs from its least to its most."""
    first = reasons[0]
    if all(each is first or each.message == first.message for each in reasons):
        return first
    if first.code not in _OF_FIGURES:
        return first.model_copy(update={"message": _without_aside(first.message)})
    texts = [_FIGURE.findall(each.message) for each in reasons]
    told = [_between(figures) for figures in zip(*texts, strict=True)]
    parts = _FIGURE.split(first.message)
    message = "".join(part + figure for part, figure in zip(parts, [*told, ""], strict=True))
    message = _OF_A_SPAN.sub(_free_of_a_span, message)
    numbers: dict[str, Figure] = {}
    for name in first.numbers:
        values = [each.numbers[name] for each in reasons]
        figures = [value for value in values if isinstance(value, int | float)]
        numbers[name] = max(figures) if figures else values[0]
        if figures and min(figures) < max(figures):
            numbers[f"least_{name}"] = min(figures)
    return first.model_copy(update={"message": message, "numbers": numbers})


def _free_of_a_span(match: re.Match[str]) -> str:
    """Return what is free, of machines that aren't of one size: "0 free, of 4 to 8 there"."""
    return f"{match['free']} {match['like'] or ''}free, of {match['whole']} there"


def _without_aside(message: str) -> str:
    """Return a sentence without what it says in brackets: what is there instead."""
    return _ASIDE.sub("", message)


def _between(figures: Sequence[str]) -> str:
    ordered = sorted(set(figures), key=lambda text: float(text.replace(",", "")))
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"


def _outline(reason: Reason) -> object:
    """Return what a reason says but for its figures, or for what a host has instead of a label."""
    if reason.code == Code.LABEL_MISSING:
        return (reason.code, _without_aside(reason.message), _told(reason))
    if reason.code not in _OF_FIGURES:
        return (reason.code, reason.message, _told(reason))
    words = tuple(
        (name, None if isinstance(value, int | float) else value)
        for name, value in reason.numbers.items()
    )
    return (reason.code, reason.action, _words(reason.message), words)


def _told(reason: Reason) -> object:
    return tuple(sorted(reason.numbers.items()))


@functools.lru_cache(maxsize=10_000)
def _words(message: str) -> tuple[str, ...]:
    return tuple(_FIGURE.split(message))
