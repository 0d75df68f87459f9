"""Which kind of GPU goes to which workers of a host: those at risk only where it must be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stowplan.solver.grid import Grid
from stowplan.solver.layout import Layout


class Part(NamedTuple):
    """GPUs of one lot that go to a class."""

    owner: int
    """The class's place in the grid."""
    lot: int
    """The lot's place on the host."""
    at_risk: bool
    users: frozenset[int]
    """The classes that could use them."""
    amount: int


def at_risk_taken(layout: Layout) -> int:
    """Return how many GPUs at risk must be given out."""
    grid = layout.grid
    risky = [any(at_risk for _, at_risk, _ in kinds) for kinds in grid.kinds]
    return sum(
        part.amount
        for host, there in enumerate(layout.by_host())
        if there and risky[grid.family_of[host]]
        for part in handed_out(grid, host, there)
        if part.at_risk
    )


def handed_out(grid: Grid, host: int, there: Sequence[tuple[int, int]]) -> list[Part]:
    """Return how a host's GPUs are given to the workers there, with the fewest at risk.

    `there` are classes and how many workers of each.

    Each class in turn is given GPUs by paths that may move what others have: first over sound
    GPUs, until no more of them can be given, then over those at risk. So as few as possible are.
    """
    wants = [
        (index, workers * grid.classes[index].ask.gpus)
        for index, workers in there
        if grid.classes[index].ask.gpus
    ]
    kinds = [
        (lot, at_risk, users)
        for lot, at_risk, users in grid.kinds[grid.family_of[host]]
        if grid.lots[host][lot]
    ]
    kinds.sort(key=lambda kind: (kind[1], len(kind[2]), kind[0]))
    free = [grid.lots[host][lot] for lot, _, _ in kinds]
    may = [
        [kind for kind, (_, _, users) in enumerate(kinds) if index in users] for index, _ in wants
    ]
    given = [[0] * len(kinds) for _ in wants]
    left = [amount for _, amount in wants]
    for at_risk in (False, True):
        open_kinds = [kind for kind, each in enumerate(kinds) if at_risk or not each[1]]
        for own in sorted(range(len(wants)), key=lambda own: len(may[own])):
            while left[own] and (path := _path(own, may, given, free, set(open_kinds))):
                left[own] -= _push(path, left[own], given, free)
    return [
        Part(index, *kinds[kind], amount)
        for (index, _), amounts in zip(wants, given, strict=True)
        for kind, amount in enumerate(amounts)
        if amount
    ]


def _path(
    own: int,
    may: Sequence[Sequence[int]],
    given: Sequence[Sequence[int]],
    free: Sequence[int],
    kinds: set[int],
) -> list[int] | None:
    """Return class, kind, class, kind ...: each takes a kind that the next gives up for another.

    The last kind is free. The shortest such path, or None.
    """
    paths = [[own]]
    seen: set[int] = set()
    for path in paths:
        for kind in may[path[-1]]:
            if kind not in kinds or kind in seen:
                continue
            seen.add(kind)
            if free[kind]:
                return [*path, kind]
            paths += [[*path, kind, other] for other, has in enumerate(given) if has[kind]]
    return None


def _push(path: Sequence[int], most: int, given: list[list[int]], free: list[int]) -> int:
    """Move GPUs along a path, as many as go; return how many."""
    steps = list(zip(path[::2], path[1::2], strict=True))
    gives = [given[giver][kind] for (giver, _), (_, kind) in zip(steps[1:], steps, strict=False)]
    amount = min([most, free[path[-1]], *gives])
    for position, (taker, kind) in enumerate(steps):
        given[taker][kind] += amount
        if position:
            given[taker][steps[position - 1][1]] -= amount
    free[path[-1]] -= amount
    return amount
