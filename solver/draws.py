"""Draws: which hosts are solved together."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import numpy as np

from stowplan.solver.grid import CORES, Grid, Ints
from stowplan.solver.layout import Layout

TOGETHER = 8
"""How many hosts are solved together where all have their turn."""
WANTED = 16
"""How many where some are wanted more than others."""


def used(grid: Grid) -> list[int]:
    """Return the hosts on which some class could be, by their places in the grid."""
    return sorted({host for there in grid.where for host in there.tolist()})


def in_turn(hosts: Sequence[int], grid: Grid, draw: random.Random) -> Iterator[Sequence[int]]:
    """Yield groups of hosts without end, each host once a round: at random, or beside its like."""
    shuffled = list(hosts)
    while shuffled:
        draw.shuffle(shuffled)
        if draw.random() < 0.5:
            shuffled.sort(key=lambda host: int(grid.family_of[host]))
        for start in range(0, len(shuffled), TOGETHER):
            yield shuffled[start : start + TOGETHER]


def wanted(
    hosts: Sequence[int], amounts: Ints, others: Sequence[int], draw: random.Random
) -> Sequence[int]:
    """Return hosts to solve together: half drawn by these amounts, half from these others."""
    if len(hosts) <= WANTED:
        return hosts
    half = WANTED // 2
    by_amount = draw.choices(hosts, [float(amount) + 1e-3 for amount in amounts], k=half)
    return sorted({*by_amount, *draw.sample(others, min(half, len(others)))})


def idle(layout: Layout, hosts: Sequence[int]) -> Ints:
    """Return how much of each host waits to be used: GPUs, and a little for each core."""
    there = np.array(hosts, np.int64)
    cores = layout.room[CORES, there].clip(0) // 1000
    amounts: Ints = layout.free[there].clip(0) * 1000 + cores
    return amounts
