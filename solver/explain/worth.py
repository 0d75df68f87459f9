"""What workers earn on all hosts at once: the points of `solver.points`, as arrays.

A test holds them against the points of the hosts one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from stowplan.solver import points
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host
from stowplan.solver.rooms import Ints
from stowplan.solver.situation import Situation


class _Load(NamedTuple):
    """What the cycle places on hosts, an array for each field of `points.Load`."""

    workers: Ints
    gpu_workers: Ints
    gpus: Ints
    worth: Ints
    standing: Ints
    at_risk: Ints


_fields = attrgetter(*_Load._fields)


class Figures:
    """What points read of each host, whatever the ask; an array for each."""

    def __init__(self, situation: Situation) -> None:
        """Read the hosts and what the cycle places there."""
        hosts, loads, left = situation.hosts, situation.plan.loads, situation.left
        self.left_free: Ints = np.array([points.left_free(host) for host in hosts], np.int64)
        self.packed: Ints = np.array([points.packed(host) for host in hosts], np.int64)
        self.held: Ints = np.array(
            [len(host.empty.devices) - len(host.start.devices) for host in hosts], np.int64
        )
        self.fit = [_share(len(host.empty.devices), len(left[host.name].devices)) for host in hosts]
        """The share of each host's GPUs in use when all that starts has started."""
        self.health = [_health(host) for host in hosts]
        """The share of each host's GPUs that are known to be healthy."""
        each = [_fields(loads[host.name]) for host in hosts]
        self.loads: Ints = np.array(each, np.int64).reshape(len(hosts), len(_Load._fields)).T
        firsts: dict[int, int] = {}
        sort_of = [firsts.setdefault(host.sort, len(firsts)) for host in hosts]
        self.sort_of: Ints = np.array(sort_of, np.int64)
        """By host: its sort, numbered from 0."""
        self.sorts = [hosts[sort_of.index(sort)] for sort in range(len(firsts))]
        """One host of each sort."""


def _share(whole: int, left: int) -> float:
    return 1 - left / whole if whole else 0.0


def _health(host: Host) -> float:
    devices = host.machine.devices
    return sum(device.health == "healthy" for device in devices) / len(devices) if devices else 1.0


@dataclass(frozen=True)
class Worth:
    """What a worker of one ask earns on hosts that are given by their places."""

    figures: Figures
    ask: Ask

    def of_one_more(self, places: Ints, at_risk: Ints) -> tuple[Ints, Ints]:
        """Return what one more worker would earn, and what all there would earn more with it."""
        now = self._load(places)
        then = self._plus(now, places, at_risk, 1)
        gain = self._of_hosts(places, then) - self._of_hosts(places, now)
        return self._of_worker(places, then, at_risk), gain

    def of_one_there(self, places: Ints, at_risk: Ints) -> tuple[Ints, Ints]:
        """Return what a worker that is there earns, and what all there would earn less without."""
        now = self._load(places)
        without = self._plus(now, places, at_risk, -1)
        lost = self._of_hosts(places, now) - self._of_hosts(places, without)
        return self._of_worker(places, now, at_risk), lost

    def _of_worker(self, places: Ints, load: _Load, at_risk: Ints) -> Ints:
        earned = self._standing[places] + self.figures.left_free[places] - load.worth
        earned = earned + points.AT_RISK * at_risk
        return earned + self._shared(places, load) if self.ask.gpus else earned

    def _of_hosts(self, places: Ints, load: _Load) -> Ints:
        each = self.figures.left_free[places] - load.worth
        earned = load.standing + points.AT_RISK * load.at_risk + load.workers * each
        return earned + load.gpu_workers * self._shared(places, load)

    def _shared(self, places: Ints, load: _Load) -> Ints:
        return self.figures.packed[places] * (self.figures.held[places] + load.gpus)

    def _load(self, places: Ints) -> _Load:
        return _Load(*self.figures.loads[:, places])

    def _plus(self, load: _Load, places: Ints, at_risk: Ints, times: int) -> _Load:
        return _Load(
            load.workers + times,
            load.gpu_workers + times * bool(self.ask.gpus),
            load.gpus + times * self.ask.gpus,
            load.worth + times * self._taken[places],
            load.standing + times * self._standing[places],
            load.at_risk + times * at_risk,
        )

    @cached_property
    def _standing(self) -> Ints:
        return self._by_sort(points.standing)

    @cached_property
    def _taken(self) -> Ints:
        return self._by_sort(points.worth_of)

    def _by_sort(self, figure: Callable[[Ask, Host], int]) -> Ints:
        """Return a figure by host that is the same for hosts of a sort."""
        by_sort = [figure(self.ask, host) for host in self.figures.sorts]
        return np.array(by_sort, np.int64)[self.figures.sort_of]
