"""What is free on all hosts at once, so that hosts alike are asked once."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.eligibility import PLENTY, Eligibility
from stowplan.solver.hosts import Host
from stowplan.solver.matching import Tally, tally, usable
from stowplan.solver.money.prices import Bools, Left, Priced
from stowplan.solver.rule import Rule

type Ints = npt.NDArray[np.int64]

VAST = 2**62
"""Cores or memory of which there is always enough."""


class Pattern(NamedTuple):
    """One host that stands for all whose lots of GPUs are like its own, with as many free, and of
    whose instances the same is known."""

    host: Host
    gpus: frozenset[str]
    """Free GPUs."""
    instances: int
    """Of an offering: whether any can be had."""


class Kinds:
    """Hosts by a number that hosts of one kind share, numbered from 0 instead."""

    def __init__(self, hosts: Sequence[Host], numbers: Sequence[int]) -> None:
        firsts: dict[int, int] = {}
        for place, number in enumerate(numbers):
            firsts.setdefault(number, place)
        order = {number: kind for kind, number in enumerate(firsts)}
        self.kind_of: Ints = _ints(order[number] for number in numbers)
        """By host: its kind."""
        self.firsts = [hosts[place] for place in firsts.values()]
        """The first host of each kind."""


class Rooms:
    """The hosts, each with what is free there.

    What a host answers depends on its sort, on how many GPUs of each lot are free, and on cores
    and memory where they are too few. So rules are asked once for each of those, not for each
    host. A test holds the answers against those of the hosts one by one.
    """

    def __init__(
        self,
        eligibility: Eligibility,
        hosts: Sequence[Host],
        free: Mapping[str, Room],
        left: Left | None = None,
    ) -> None:
        """Take what is free by the hosts' names, and what is left of the purses, if not all."""
        self._left = left
        self._barred: dict[Ask, Bools | None] = {}
        self.hosts = hosts
        self.free = free
        self.eligibility = eligibility
        self._families = Kinds(hosts, [host.family for host in hosts])
        self._sorts = Kinds(hosts, [host.sort for host in hosts])
        self._slots: dict[Ask, Ints] = {}
        self._fits: dict[Ask, bool] = {}

    @cached_property
    def cores(self) -> Ints:
        """Thousandths of a core by host, none where the host is overcommitted."""
        return _ints(max(0, self.free[host.name].millicores) for host in self.hosts)

    @cached_property
    def memory(self) -> Ints:
        """Bytes by host, none where the host is overcommitted."""
        return _ints(max(0, self.free[host.name].memory_bytes) for host in self.hosts)

    def beside(self, left: Left) -> Rooms:
        """Return the same with other amounts left of the purses."""
        for shared in (self._instances, self._offered, self.cores, self.memory, self._patterns):
            assert shared is not None  # worked out once, for this and all copies
        other = copy.copy(self)
        other._left, other._barred, other._slots, other._fits = left, {}, {}, {}
        return other

    def priced(self, ask: Ask) -> Priced | None:
        """Return what a run costs on every host, with what is left of its purses."""
        priced = self.eligibility.prices.of(ask)
        if priced is None or self._left is None or not priced.purses:
            return priced
        return priced.beside(self._left)

    def barred(self, ask: Ask) -> Bools | None:
        """Return which hosts a run's limits of money and time keep it off; None: nothing counts."""
        if ask not in self._barred:
            priced = self.priced(ask)
            if priced is self.eligibility.prices.of(ask):
                self._barred[ask] = self.eligibility.barred(ask)
            elif priced is not None:
                self._barred[ask] = self.eligibility.barred_beside(ask, priced)
        return self._barred[ask]

    @cached_property
    def _offered(self) -> Bools:
        return np.array([host.offering is not None for host in self.hosts], np.bool_)

    @cached_property
    def _instances(self) -> Ints:
        return _ints(self.free[host.name].instances for host in self.hosts)

    def slots(self, ask: Ask) -> Ints:
        """Return how many workers each host could take."""
        if ask not in self._slots:
            closed = [self.eligibility.fails(ask, host) for host in self._families.firsts]
            slots = np.where(np.array(closed, np.bool_)[self._families.kind_of], 0, PLENTY)
            if ask.gpus:
                slots = np.minimum(slots, self.count(ask, lambda has: usable(ask, has) // ask.gpus))
            for free, need in ((self.cores, ask.millicores), (self.memory, ask.memory_bytes)):
                if need:
                    slots = np.minimum(slots, free // need)
            slots = np.where(self._offered, np.where(slots > 0, self._instances, 0), slots)
            barred = self.barred(ask)
            self._slots[ask] = slots if barred is None else np.where(barred, 0, slots)
        return self._slots[ask]

    def count(self, ask: Ask, figure: Callable[[Tally], int]) -> Ints:
        """Return by host a figure of its free GPUs that match."""
        pattern_of, patterns = self.patterns_for(ask)
        tallies = (tally(ask, host, Room(0, 0, gpus)) for host, gpus, _ in patterns)
        return _ints(figure(each) for each in tallies)[pattern_of]

    def workers(self, ask: Ask) -> Ints:
        """Return how many workers of one run each host could take."""
        most = np.where(self._offered | ask.may_share, ask.tasks or 0, 1)
        workers: Ints = np.minimum(self.slots(ask), most)
        return workers

    def fits(self, ask: Ask) -> bool:
        """Whether a run fits whole, alone."""
        if ask not in self._fits:
            fit = int(self.workers(ask).sum())
            self._fits[ask] = bool(ask.tasks) and fit >= (ask.tasks or 0)
        return self._fits[ask]

    def by_kind(self, ask: Ask, among: Ints) -> list[Ints]:
        """Return the places of hosts that say the same when empty, in the order of the firsts."""
        kind_of = self.kinds_for(ask).kind_of
        masks = self.dear(ask).values()
        keys = np.vstack((kind_of[among], *(mask[among] for mask in masks)))
        return [among[places] for places in groups(keys)]

    def dear(self, ask: Ask) -> Mapping[Rule, Bools]:
        """Return the rules on prices that some hosts fail, each with those."""
        priced = self.priced(ask)
        if priced is None:
            return {}
        masks = {
            rule: rule.bars(ask, priced) for rule in self.eligibility.priced_rules if rule.bars
        }
        return {rule: mask for rule, mask in masks.items() if mask.any()}

    def kinds_for(self, ask: Ask) -> Kinds:
        """Return the kinds of hosts that may say different things.

        Hosts of a family say the same in other words only where they tell their labels.
        """
        return self._sorts if ask.match_labels or ask.pools is not None else self._families

    def patterns_for(self, ask: Ask) -> tuple[Ints, Sequence[Pattern]]:
        """Return the hosts' patterns: each host's number, and one host for each."""
        if not ask.gpus:
            return self._patterns_without_gpus
        return self._patterns_by_id if ask.ids else self._patterns

    @cached_property
    def _patterns_without_gpus(self) -> tuple[Ints, list[Pattern]]:
        """The patterns to runs without GPUs."""
        kinds = [
            (host.offering is not None, self._has_any(host), *host.availability)
            for host in self.hosts
        ]
        firsts: dict[tuple[int, ...], int] = {}
        for place, kind in enumerate(kinds):
            firsts.setdefault(kind, place)
        numbers = {kind: number for number, kind in enumerate(firsts)}
        patterns = [
            Pattern(host, self.free[host.name].devices, self._has_any(host))
            for host in (self.hosts[place] for place in firsts.values())
        ]
        return _ints(numbers[kind] for kind in kinds), patterns

    def _has_any(self, host: Host) -> int:
        return int(self.free[host.name].instances > 0)

    @cached_property
    def _patterns(self) -> tuple[Ints, list[Pattern]]:
        return self._found(
            [
                (tuple((*lot.being, len(lot.ids)) for lot in host.lots), host.offering is not None)
                for host in self._sorts.firsts
            ]
        )

    @cached_property
    def _patterns_by_id(self) -> tuple[Ints, list[Pattern]]:
        """The patterns to runs that name GPUs."""
        return self._found(range(len(self._sorts.firsts)))

    def _found(self, of_sort: Sequence[object]) -> tuple[Ints, list[Pattern]]:
        kinds: dict[object, int] = {}
        kind_of = [kinds.setdefault(kind, len(kinds)) for kind in of_sort]
        numbers: dict[tuple[int, ...], int] = {}
        patterns: list[Pattern] = []
        found = []
        for host, sort in zip(self.hosts, self._sorts.kind_of.tolist(), strict=True):
            gpus = self.free[host.name].devices
            there = self._has_any(host)
            free = [len(lot.ids & gpus) for lot in host.lots]
            key = (kind_of[sort], there, *host.availability, *free)
            number = numbers.setdefault(key, len(patterns))
            if number == len(patterns):
                patterns.append(Pattern(host, gpus, there))
            found.append(number)
        return _ints(found), patterns


def groups(keys: Ints) -> list[Ints]:
    """Return the places of equal columns, each ascending, in the order of the first of each."""
    if not keys.shape[1]:
        return []
    order = np.lexsort(keys[::-1])
    changes = (keys[:, order[1:]] != keys[:, order[:-1]]).any(axis=0)
    found = np.split(order, np.nonzero(changes)[0] + 1)
    return sorted(found, key=lambda places: int(places[0]))


def _ints(values: Iterable[int]) -> Ints:
    return np.fromiter(values, np.int64)
