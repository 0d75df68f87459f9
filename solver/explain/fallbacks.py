"""Whole alternatives for a run of several workers: other hosts on which all of them fit."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence

MOST = 10
"""How many alternatives a decision lists."""

type Taker = tuple[int, str, int]
"""What a worker on a host costs in points, the host, and how many workers it could take."""


def apart(takers: Sequence[Taker], workers: int) -> Iterator[list[str]]:
    """Yield sets of so many different hosts, the best first; the takers are sorted."""
    if workers > len(takers):
        return
    first = tuple(range(workers))
    queue = [(sum(takers[index][0] for index in first), first)]
    seen = {first}
    while queue:
        cost, chosen = heapq.heappop(queue)
        yield sorted(takers[index][1] for index in chosen)
        # Every set follows from a better one by moving one of its members one place on.
        for place, index in enumerate(chosen):
            after = index + 1
            moved = (*chosen[:place], after, *chosen[place + 1 :])
            if after < len(takers) and after not in chosen and moved not in seen:
                seen.add(moved)
                step = takers[after][0] - takers[index][0]
                heapq.heappush(queue, (cost + step, moved))


def sharing(
    takers: Sequence[Taker], workers: int, earned: Callable[[Sequence[str]], int]
) -> list[list[str]]:
    """Return ways to put so many workers on hosts that they may share: each host filled first."""
    ways: set[tuple[str, ...]] = set()
    for first in takers:
        names: list[str] = []
        for _, name, slots in (first, *(each for each in takers if each is not first)):
            names += [name] * min(workers - len(names), slots)
        if len(names) == workers:
            ways.add(tuple(sorted(names)))
    return [list(names) for names in sorted(ways, key=lambda names: (-earned(names), names))]
