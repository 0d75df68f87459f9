"""Draws: which hosts are solved together."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from stowplan.solver.grid import CORES, MEMORY, Grid
from stowplan.solver.layout import Layout

type Floats = npt.NDArray[np.float64]

SOME = 0.01
"""What every host counts at least: none is left out for ever."""
MOST = 16.0
"""What a host counts at most."""
MANY_CORES = 1e6
TOGETHER = 8
"""How many hosts are solved together where all have their turn."""
WANTED = 16
"""How many where some are wanted more than others."""


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
    hosts: Sequence[int],
    amounts: Floats,
    partners: Sequence[int],
    spare: Floats,
    draw: random.Random,
) -> Sequence[int]:
    """Return hosts to solve together: half by amounts, half of partners by what they spare."""
    if len(hosts) <= WANTED:
        return hosts
    half = WANTED // 2
    by_amount = draw.choices(hosts, (amounts + SOME).tolist(), k=half)
    by_spare = draw.choices(partners, (spare + SOME).tolist(), k=half)
    return sorted({*by_amount, *by_spare})


def idle(layout: Layout, hosts: Sequence[int]) -> Floats:
    """Return how many GPUs of each host wait to be used; where there are none, how many cores."""
    there = np.array(hosts, np.int64)
    cores = layout.room[CORES, there].clip(0) / MANY_CORES
    amounts: Floats = layout.free[there].clip(0) + np.minimum(cores, SOME)
    return amounts


def spare(layout: Layout, hosts: Sequence[int]) -> Floats:
    """Return for how many GPUs what is left of each host's cores and memory would do."""
    there = np.array(hosts, np.int64)
    needed = np.maximum(layout.grid.mean_per_gpu, 1)[:, None]
    left: Floats = (layout.room[[CORES, MEMORY]][:, there].clip(0) / needed).min(axis=0)
    return np.minimum(left, MOST)
