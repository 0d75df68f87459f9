"""Who is where so far: workers of each class on each host, and what that leaves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stowplan.solver.grid import ALL, Grid, Ints


class Layout:
    """Workers by class and host, runs started by class and cohort, and the room left.

    Workers are counted in `workers[class]`, beside the class's hosts in `grid.where[class]`.
    """

    def __init__(self, grid: Grid) -> None:
        """Start with nothing placed."""
        self.grid = grid
        self.room: Ints = grid.room.copy()
        self.free: Ints = grid.usable_gpus.copy()
        """By host: the usable GPUs that are left."""
        self.sound: Ints = grid.sound_gpus.copy()
        """By host: what would be left of those not at risk; less than 0: some at risk are taken."""
        self.workers: list[Ints] = [np.zeros(len(there), np.int64) for there in grid.where]
        self.started: list[list[int]] = [[0] * len(each.cohorts) for each in grid.classes]

    def copy(self) -> Layout:
        """Return a layout that changes apart from this one."""
        other = Layout.__new__(Layout)
        other.grid = self.grid
        other.room, other.free, other.sound = self.room.copy(), self.free.copy(), self.sound.copy()
        other.workers = [workers.copy() for workers in self.workers]
        other.started = [list(started) for started in self.started]
        return other

    def slots(self, index: int, at: Ints | slice = ALL) -> Ints:
        """Return how many more workers of a class its hosts at these positions take."""
        return self.grid.slots(index, self.room, at)

    def put(self, index: int, at: Ints, workers: Ints) -> None:
        """Put workers of a class on its hosts at these positions, none of them twice."""
        self.grid.take(index, at, workers, self.room)
        self.workers[index][at] += workers
        gpus = self.grid.classes[index].ask.gpus
        if gpus:
            hosts = self.grid.where[index][at]
            self.free[hosts] -= gpus * workers
            self.sound[hosts] -= gpus * workers

    def set(self, index: int, host: int, workers: int) -> None:
        """Have so many workers of a class on one of its hosts."""
        at = self.grid.positions(index, np.array([host], np.int64))
        self.put(index, at, workers - self.workers[index][at])

    def workers_in(self, index: int, hosts: Ints) -> int:
        """Return how many workers of a class are on these hosts."""
        return int(self.workers[index][self.grid.positions(index, hosts)].sum())

    def start(self, index: int, starting: Sequence[int]) -> None:
        """Say how many runs of each cohort of a class start."""
        self.started[index] = list(starting)

    def start_oldest(self, index: int, count: int) -> None:
        """Start so many runs of a class, the oldest first."""
        for cohort, each in enumerate(self.grid.classes[index].cohorts):
            self.started[index][cohort] = min(count, each.count)
            count -= self.started[index][cohort]

    def waiting(self, index: int) -> int:
        """Return how many runs of a class don't start."""
        return self.grid.classes[index].count - sum(self.started[index])

    def by_host(self) -> list[list[tuple[int, int]]]:
        """Return by host which classes have workers there, and how many."""
        found: list[list[tuple[int, int]]] = [[] for _ in self.grid.hosts]
        for index, (there, workers) in enumerate(zip(self.grid.where, self.workers, strict=True)):
            used = np.nonzero(workers)[0]
            for host, count in zip(there[used].tolist(), workers[used].tolist(), strict=True):
                found[host].append((index, count))
        return found

    def on(self, host: int) -> list[tuple[int, int]]:
        """Return the classes with workers on a host, and how many."""
        at = np.array([host], np.int64)
        counts = ((index, self.workers_in(index, at)) for index in range(len(self.workers)))
        return [(index, count) for index, count in counts if count]

    def weights(self) -> tuple[int, ...]:
        """Return the weight that starts in each tier, the highest priority first."""
        tiers: dict[int, int] = {}
        for each, started in zip(self.grid.classes, self.started, strict=True):
            weight = sum(
                cohort.weight * count for cohort, count in zip(each.cohorts, started, strict=True)
            )
            tiers[each.ask.priority] = tiers.get(each.ask.priority, 0) + weight
        return tuple(tiers[priority] for priority in sorted(tiers, reverse=True))
