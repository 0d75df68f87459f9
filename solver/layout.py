"""Who is where so far: workers of each class on each host, and what that leaves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stowplan.solver.grid import ALL, Grid, Ints

type References = Sequence[Sequence[tuple[int, int]]]
"""By class: the tier and the measure that its workers have, the best first."""


class Layout:
    """Workers by host and class, runs started by class and cohort, and the room left."""

    def __init__(self, grid: Grid) -> None:
        """Start with nothing placed."""
        self.grid = grid
        self.room: Ints = grid.room.copy()
        self.free: Ints = grid.usable_gpus.copy()
        """By host: the usable GPUs that are left."""
        self.sound: Ints = grid.sound_gpus.copy()
        """By host: what would be left of those not at risk; less than 0: some at risk are taken."""
        self.there: list[dict[int, int]] = [{} for _ in grid.hosts]
        """By host: the classes with workers there, and how many."""
        self.placed: list[int] = [0] * len(grid.classes)
        """By class: how many workers it has on all hosts."""
        self.started: list[list[int]] = [[0] * len(each.cohorts) for each in grid.classes]
        self.left = {purse.key: purse.micro for purse in grid.eligibility.prices.purses}
        """What is left of each purse, by its key."""
        self.references: References = [()] * len(grid.classes)
        """By class: what the value stage left its workers."""

    def copy(self) -> Layout:
        """Return a layout that changes apart from this one."""
        other = Layout.__new__(Layout)
        other.grid = self.grid
        other.room, other.free, other.sound = self.room.copy(), self.free.copy(), self.sound.copy()
        other.there = [dict(workers) for workers in self.there]
        other.placed = list(self.placed)
        other.started = [list(started) for started in self.started]
        other.left = dict(self.left)
        other.references = self.references
        return other

    def over(self, grid: Grid) -> Layout:
        """Return the same over a grid of the same hosts and classes."""
        other = self.copy()
        other.grid = grid
        return other

    def widened(self, grid: Grid) -> Layout:
        """Return the same over a grid that has more classes after these."""
        other = Layout(grid)
        for host, there in enumerate(self.there):
            for index, workers in there.items():
                other.set(index, host, workers)
        other.started[: len(self.started)] = [list(started) for started in self.started]
        other.references = [*self.references, *((),) * (len(grid.classes) - len(self.references))]
        return other

    def slots(self, index: int, at: Ints | slice = ALL) -> Ints:
        """Return how many more workers of a class its hosts at these positions take.

        Each by itself: together they may cost more than is left, see `afforded`.
        """
        slots = self.grid.slots(index, self.room, at)
        if purses := self.grid.purses_of[index]:
            cost = self.grid.cost(index)[at]
            left = max(0, min(self.left[key] for key in purses))
            slots = np.where(cost, np.minimum(slots, left // np.maximum(1, cost)), slots)
        return slots

    def afforded(self, index: int, at: Ints, workers: Ints) -> Ints:
        """Return how many of these workers can be paid for, host after host."""
        purses = self.grid.purses_of[index]
        if not purses:
            return workers
        left = max(0, min(self.left[key] for key in purses))
        cost = self.grid.cost(index)[at]
        spent = np.cumsum(cost.astype(np.float64) * workers)
        if not len(spent) or spent[-1] < left / 2:
            return workers
        paid = workers.copy()
        for position, (each, wanted) in enumerate(
            zip(cost.tolist(), workers.tolist(), strict=True)
        ):
            paid[position] = min(wanted, left // each) if each else wanted
            left -= int(paid[position]) * each
        return paid

    def put(self, index: int, at: Ints, workers: Ints) -> None:
        """Put workers of a class on its hosts at these positions, none of them twice."""
        self.grid.take(index, at, workers, self.room)
        if purses := self.grid.purses_of[index]:
            each = zip(self.grid.cost(index)[at].tolist(), workers.tolist(), strict=True)
            spent = sum(cost * count for cost, count in each)
            for key in purses:
                self.left[key] -= spent
        hosts = self.grid.where[index][at]
        gpus = self.grid.classes[index].ask.gpus
        if gpus:
            self.free[hosts] -= gpus * workers
            self.sound[hosts] -= gpus * workers
        self.placed[index] += int(workers.sum())
        for host, count in zip(hosts.tolist(), workers.tolist(), strict=True):
            now = self.there[host].get(index, 0) + count
            if now:
                self.there[host][index] = now
            else:
                self.there[host].pop(index, None)

    def set(self, index: int, host: int, workers: int) -> None:
        """Have so many workers of a class on one of its hosts."""
        change = workers - self.there[host].get(index, 0)
        if change:
            at = self.grid.positions(index, np.array([host], np.int64))
            self.put(index, at, np.array([change], np.int64))

    def clear(self, index: int) -> None:
        """Take all workers of a class away."""
        for host, workers in enumerate(self.there):
            if index in workers:
                self.set(index, host, 0)

    def workers_in(self, index: int, hosts: Ints) -> int:
        """Return how many workers of a class are on these hosts."""
        return sum(self.there[host].get(index, 0) for host in hosts.tolist())

    def start(self, index: int, starting: Sequence[int]) -> None:
        """Say how many runs of each cohort of a class start."""
        self.started[index] = list(starting)

    def start_oldest(self, index: int, count: int) -> None:
        """Start so many runs of a class, the oldest first."""
        for cohort, each in enumerate(self.grid.classes[index].cohorts):
            self.started[index][cohort] = min(count, each.count)
            count -= self.started[index][cohort]

    def start_the_oldest(self) -> None:
        """Of all that starts, start the oldest; of runs with options, in any of those chosen."""
        for index, each in enumerate(self.grid.classes):
            if each.option is None:
                self.start_oldest(index, sum(self.started[index]))
        for own in self.grid.siblings:
            counts = [sum(self.started[index]) for index in own]
            left = [cohort.count for cohort in self.grid.classes[own[0]].cohorts]
            for index, count in zip(own, counts, strict=True):
                for cohort, most in enumerate(left):
                    self.started[index][cohort] = min(count, most)
                    left[cohort] -= self.started[index][cohort]
                    count -= self.started[index][cohort]

    def waiting(self, index: int) -> int:
        """Return how many runs of a class don't start."""
        return self.grid.classes[index].count - sum(self.started[index])

    def by_host(self) -> list[list[tuple[int, int]]]:
        """Return by host which classes have workers there, and how many."""
        return [self.on(host) for host in range(len(self.there))]

    def on(self, host: int) -> list[tuple[int, int]]:
        """Return the classes with workers on a host, and how many."""
        return sorted(self.there[host].items())

    def weights(self) -> tuple[int, ...]:
        """Return the weight that starts in each tier, the highest priority first."""
        tiers: dict[int, int] = {}
        for each, started in zip(self.grid.classes, self.started, strict=True):
            weight = sum(
                cohort.weight * count for cohort, count in zip(each.cohorts, started, strict=True)
            )
            tiers[each.ask.priority] = tiers.get(each.ask.priority, 0) + weight
        return tuple(tiers[priority] for priority in sorted(tiers, reverse=True))


def in_turn(workers: int, room: Ints) -> Ints:
    """Return how many of these workers each host takes, the hosts filled one after the other."""
    before = np.cumsum(room) - room
    taken: Ints = np.clip(workers - before, 0, room)
    return taken
