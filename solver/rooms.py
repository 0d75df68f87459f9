"""What is free on all hosts at once, so that hosts alike are asked once."""

from __future__ import annotations

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

type Ints = npt.NDArray[np.int64]

VAST = 2**62
"""Cores or memory of which there is always enough."""


class Pattern(NamedTuple):
    """One host that stands for all whose lots of GPUs are like its own, with as many free."""

    host: Host
    gpus: frozenset[str]
    """Free GPUs."""


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
        self, eligibility: Eligibility, hosts: Sequence[Host], free: Mapping[str, Room]
    ) -> None:
        """Take what is free by the hosts' names."""
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
            self._slots[ask] = slots
        return self._slots[ask]

    def count(self, ask: Ask, figure: Callable[[Tally], int]) -> Ints:
        """Return by host a figure of its free GPUs that match."""
        pattern_of, patterns = self.patterns_for(ask)
        tallies = (tally(ask, host, Room(0, 0, gpus)) for host, gpus in patterns)
        return _ints(figure(each) for each in tallies)[pattern_of]

    def workers(self, ask: Ask) -> Ints:
        """Return how many workers of one run each host could take."""
        return np.minimum(self.slots(ask), (ask.tasks or 0) if ask.may_share else 1)

    def fits(self, ask: Ask) -> bool:
        """Whether a run fits whole, alone."""
        if ask not in self._fits:
            fit = int(self.workers(ask).sum())
            self._fits[ask] = bool(ask.tasks) and fit >= (ask.tasks or 0)
        return self._fits[ask]

    def by_kind(self, ask: Ask, among: Ints) -> list[Ints]:
        """Return the places of hosts that say the same when empty, in the order of the firsts."""
        kind_of = self.kinds_for(ask).kind_of
        return [among[places] for places in groups(kind_of[among][np.newaxis])]

    def kinds_for(self, ask: Ask) -> Kinds:
        """Return the kinds of hosts that may say different things.

        Hosts of a family say the same in other words only where they tell their labels.
        """
        return self._sorts if ask.match_labels or ask.pools is not None else self._families

    def patterns_for(self, ask: Ask) -> tuple[Ints, Sequence[Pattern]]:
        """Return the hosts' patterns: each host's number, and one host for each."""
        if not ask.gpus:
            return np.zeros(len(self.hosts), np.int64), self._patterns[1][:1]
        return self._patterns_by_id if ask.ids else self._patterns

    @cached_property
    def _patterns(self) -> tuple[Ints, list[Pattern]]:
        return self._found(
            [
                tuple(
                    (lot.model, lot.vendor, lot.memory_mib, lot.condition, lot.denied, len(lot.ids))
                    for lot in host.lots
                )
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
            key = (kind_of[sort], *[len(lot.ids & gpus) for lot in host.lots])
            number = numbers.setdefault(key, len(patterns))
            if number == len(patterns):
                patterns.append(Pattern(host, gpus))
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
