"""Whole alternatives for a run of several workers: other hosts on which all of them fit."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence

MOST = 10
"""How many alternatives a decision lists."""

type Taker = tuple[int, str, int]
"""What a worker on a host costs in points, the host, and how many workers it could take."""


def apart(takers: Sequence[Taker], workers: int) -> list[list[str]]:
    """Return the best sets of so many different hosts, best first."""
    # They differ in their last members only: each further one costs a better set.
    sure = max(0, workers - MOST - 1)
    rest = takers[sure : workers + 4]
    best = heapq.nsmallest(
        MOST + 1,
        itertools.combinations(rest, workers - sure),
        key=lambda each: (sum(worth for worth, _, _ in each), each),
    )
    return [sorted(name for _, name, _ in (*takers[:sure], *each)) for each in best]


def sharing(takers: Sequence[Taker], workers: int) -> list[list[str]]:
    """Return ways to put so many workers on hosts that they may share: each host filled first."""
    ways: dict[tuple[str, ...], int] = {}
    for first in takers:
        left, cost, names = workers, 0, list[str]()
        for worth, name, slots in (first, *(each for each in takers if each is not first)):
            here = min(left, slots)
            left, cost, names = left - here, cost + here * worth, [*names, *[name] * here]
        if not left:
            ways.setdefault(tuple(sorted(names)), cost)
    return [list(names) for names, _ in sorted(ways.items(), key=lambda way: (way[1], way[0]))]
