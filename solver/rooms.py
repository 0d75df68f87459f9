"""What is free on all hosts at once, so that hosts alike are asked once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.eligibility import PLENTY, Eligibility, Failing
from stowplan.solver.hosts import Host
from stowplan.solver.matching import Tally, tally, usable
from stowplan.solver.rule import Rule

type Ints = npt.NDArray[np.int64]

VAST = 2**62
"""Cores or memory of which there is always enough."""
ENOUGH = -1
"""Stands for what is free where that is enough: how much doesn't matter."""


class Alike(NamedTuple):
    """Hosts that fail the same rules: by the same figures, or at least and at most by these."""

    hosts: Ints
    """Their places among all hosts, ascending."""
    least: tuple[Failing, ...]
    """What they say with the least room that one of them has."""
    most: tuple[Failing, ...]
    """And with the most; the same object where all say the same."""


class Pattern(NamedTuple):
    """One host that stands for all whose lots of GPUs are like its own, with as many free."""

    host: Host
    gpus: frozenset[str]
    """Free GPUs."""


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
        self._eligibility = eligibility
        _, firsts, sort_of = np.unique(
            _ints(host.sort for host in hosts), return_index=True, return_inverse=True
        )
        self._sorts = [hosts[place] for place in firsts]
        """The first host of each sort."""
        self._sort_of: Ints = sort_of.astype(np.int64)
        self._slots: dict[Ask, Ints] = {}

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
            closed = [self._eligibility.fails(ask, host) for host in self._sorts]
            slots = np.where(np.array(closed, np.bool_)[self._sort_of], 0, PLENTY)
            if ask.gpus:
                slots = np.minimum(slots, self.count(ask, lambda has: usable(ask, has) // ask.gpus))
            for free, need in ((self.cores, ask.millicores), (self.memory, ask.memory_bytes)):
                if need:
                    slots = np.minimum(slots, free // need)
            self._slots[ask] = slots
        return self._slots[ask]

    def count(self, ask: Ask, figure: Callable[[Tally], int]) -> Ints:
        """Return by host a figure of its free GPUs that match."""
        pattern_of, patterns = self._patterns_for(ask)
        tallies = (tally(ask, host, Room(0, 0, gpus)) for host, gpus in patterns)
        return _ints(figure(each) for each in tallies)[pattern_of]

    def workers(self, ask: Ask) -> Ints:
        """Return how many workers of one run each host could take."""
        return np.minimum(self.slots(ask), (ask.tasks or 0) if ask.may_share else 1)

    def fits(self, ask: Ask) -> bool:
        """Whether a run fits whole, alone."""
        return bool(ask.tasks) and int(self.workers(ask).sum()) >= (ask.tasks or 0)

    def by_sort(self, among: Ints) -> list[Ints]:
        """Return the places of hosts of one sort, in the order of the first of each."""
        return [among[places] for places in groups(self._sort_of[among][np.newaxis])]

    def alike(self, ask: Ask, among: Ints, most: int) -> list[Alike]:
        """Return hosts by what they say, in the order of the first of each.

        Where that would be more than `most` groups, hosts that lack cores or memory are put
        together however much they lack.
        """
        pattern_of, patterns = self._patterns_for(ask)
        fixed, always = _numbered(self._eligibility.of_any_room(ask, host) for host in self._sorts)
        by_gpus, at_times = _numbered(
            self._eligibility.of_room(ask, host, Room(VAST, VAST, gpus)) for host, gpus in patterns
        )
        sort = self._sort_of[among]
        short = self._short(ask, among)
        lacks = (short != ENOUGH).any(axis=0)
        # How large the whole machine is, is told only where it has too little free.
        keys = (fixed[sort], by_gpus[pattern_of[among]], np.where(lacks, sort, ENOUGH))
        found = groups(np.vstack((*keys, short)))
        if len(found) > most:
            found = groups(np.vstack((*keys, short != ENOUGH)))
        alike = []
        for places in found:
            first = places[0]
            said = (*always[keys[0][first]], *at_times[keys[1][first]])
            lacking: Iterable[tuple[Failing, ...]] = ((),)
            if lacks[first]:
                lacking = self._lacking(ask, self._sorts[sort[first]], short[:, places])
            ends = [self._eligibility.in_order((*said, *each)) for each in lacking]
            alike.append(Alike(among[places], ends[0], ends[-1]))
        return alike

    def _lacking(self, ask: Ask, host: Host, short: Ints) -> Iterator[tuple[Failing, ...]]:
        """Yield what hosts like one say of cores and memory with the least and the most free."""
        least, most = short.min(axis=1).tolist(), short.max(axis=1).tolist()
        for cores, memory in (least,) if least == most else (least, most):
            room = Room(_or_vast(cores), _or_vast(memory), frozenset())
            yield tuple(
                Failing(rule, why)
                for rule in self._amounts
                if rule.why_not and (why := rule.why_not(ask, host, room))
            )

    @cached_property
    def _amounts(self) -> Sequence[Rule]:
        """The rules that read free cores or memory."""
        return [rule for rule in self._eligibility.rules if rule.name in ("cpu", "memory")]

    def _short(self, ask: Ask, among: Ints) -> Ints:
        """Return the cores and the memory free on hosts, ENOUGH where there is enough."""
        cores, memory = self.cores[among], self.memory[among]
        return np.vstack(
            (
                np.where(cores < ask.millicores, cores, ENOUGH),
                np.where(memory < ask.memory_bytes, memory, ENOUGH),
            )
        )

    def _patterns_for(self, ask: Ask) -> tuple[Ints, Sequence[Pattern]]:
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
                for host in self._sorts
            ]
        )

    @cached_property
    def _patterns_by_id(self) -> tuple[Ints, list[Pattern]]:
        """The patterns to runs that name GPUs."""
        return self._found(range(len(self._sorts)))

    def _found(self, of_sort: Sequence[object]) -> tuple[Ints, list[Pattern]]:
        kinds: dict[object, int] = {}
        kind_of = [kinds.setdefault(kind, len(kinds)) for kind in of_sort]
        numbers: dict[tuple[int, ...], int] = {}
        patterns: list[Pattern] = []
        found = []
        for host, sort in zip(self.hosts, self._sort_of.tolist(), strict=True):
            gpus = self.free[host.name].devices
            key = (kind_of[sort], *[len(lot.ids & gpus) for lot in host.lots])
            number = numbers.setdefault(key, len(patterns))
            if number == len(patterns):
                patterns.append(Pattern(host, gpus))
            found.append(number)
        return _ints(found), patterns


def _numbered(
    said: Iterable[tuple[Failing, ...]],
) -> tuple[Ints, list[tuple[Failing, ...]]]:
    """Return which of the different things that are said each is, and these."""
    different: list[tuple[Failing, ...]] = []
    numbers: dict[object, int] = {}
    found = []
    for failing in said:
        key = tuple((each.rule.name, each.reason.message) for each in failing)
        number = numbers.setdefault(key, len(different))
        if number == len(different):
            different.append(failing)
        found.append(number)
    return _ints(found), different


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


def _or_vast(amount: int) -> int:
    return VAST if amount == ENOUGH else amount
