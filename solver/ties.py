"""Ties: where runs go among hosts that are equally good in all that counts.

To the machine with the fewest GPUs free, so that those that are free stay together; then by a hash.
"""

from __future__ import annotations

import hashlib

from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host
from stowplan.solver.layout import Layout

RANKS = 1 << 10


def hole(ask: Ask, host: Host) -> int:
    """Return twice the GPUs that are free on a machine at the start of the cycle, and one more
    where all are; nothing of an offering, and for workers without GPUs."""
    if not ask.gpus or host.offering:
        return 0
    free = len(host.start.devices)
    return 2 * free + (free == len(host.empty.devices))


def holes(layout: Layout) -> int:
    """Return the same for all workers of a layout together."""
    grid = layout.grid
    return sum(
        workers * hole(grid.classes[index].ask, host)
        for host, there in zip(grid.hosts, layout.there, strict=True)
        for index, workers in there.items()
    )


def fewest_holes(layout: Layout) -> int:
    """Return how few it could be, each worker alone where it is best."""
    grid, fewest = layout.grid, 0
    for own, where, workers in zip(grid.classes, grid.where, layout.placed, strict=True):
        if workers:
            fewest += workers * min(hole(own.ask, grid.hosts[place]) for place in where.tolist())
    return fewest


def rank(run: str, host: str) -> int:
    """Return a number that any two names always have together."""
    return int.from_bytes(hashlib.sha256(f"{run}\0{host}".encode()).digest()[:4]) % RANKS
