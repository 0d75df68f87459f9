"""Classes against hosts as arrays: what a worker asks, and what is free, by columns.

A host's room is a vector: cores, memory, and its pools of GPUs. A pool is a set of GPUs that holds
all that some classes can use; with every union of pools that overlap among them, workers get their
GPUs if and only if no pool is overdrawn (Hall's theorem): nobody needs to choose which GPU goes to
whom before the hosts are settled. A run that pins GPUs takes exactly those, out of every pool.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from stowplan.solver.asks import Ask, RunClass
from stowplan.solver.eligibility import PLENTY, Eligibility
from stowplan.solver.hosts import Host
from stowplan.solver.matching import is_usable
from stowplan.solver.money.appraisal import Appraisal, Tier, appraised

type Ints = npt.NDArray[np.int64]

CORES, MEMORY, INSTANCES = 0, 1, 2
"""The columns of what isn't a GPU: thousandths of a core, bytes, and instances of an offering.

A worker on an offering takes a whole instance, and nothing else there.
"""
POOLS = 3
"""The first column of a pool of GPUs."""
UNUSABLE = -1
ALL = slice(None)
"""Every position."""


class Grid:
    """What each class asks of each host, in arrays that hosts of one family share."""

    def __init__(
        self, classes: Sequence[RunClass], eligibility: Eligibility, hosts: Sequence[Host]
    ) -> None:
        """Ask the rules once for each class and family of host."""
        self.classes = tuple(classes)
        self.hosts = tuple(hosts)
        self.eligibility = eligibility
        first: dict[int, int] = {}
        family_of = [first.setdefault(host.family, len(first)) for host in self.hosts]
        self.family_of: Ints = np.array(family_of, np.int64)
        """The family of each host, by number."""
        self.families = [self.hosts[family_of.index(family)] for family in range(len(first))]
        """One host of each family."""
        by_ask = {
            ask: tuple(self._usable(ask, host) for host in self.families)
            for ask in dict.fromkeys(each.ask for each in classes)
        }
        told = [by_ask[each.ask] for each in classes]
        alike: dict[tuple[int, ...], tuple[int, ...]] = {}
        self.usable = [alike.setdefault(own, own) for own in told]
        """By class and family: the lots that a worker may be given, as bits, or UNUSABLE."""
        self.pools = [self._pools(family) for family in range(len(self.families))]
        """By family: its pools, as bits of lots."""
        self.kinds = [self._kinds(family) for family in range(len(self.families))]
        """By family: its lots that some class may use: lot, whether at risk, and which classes."""
        self.columns = POOLS + max(map(len, self.pools), default=0)
        self.offered = eligibility.prices.offered
        """By host: whether it is an offering."""
        self.is_offered = bool(self.offered.any())
        self.instances: Ints = np.where(
            self.offered, [host.start.instances for host in self.hosts], 0
        ).astype(np.int64)
        """By host: how many instances of it can be had."""
        self.lots: list[list[int]] = [
            [0] * len(host.lots) if host.offering else [lot.free(host.start) for lot in host.lots]
            for host in hosts
        ]
        """By host and lot: how many GPUs are free; of an offering none is given out by itself."""
        self.room = self._room()
        """By column and host: what is free at the start."""
        self.usable_gpus, self.sound_gpus = self._gpus()
        """By host: the free GPUs that some class may use, and those of them not at risk."""
        self.devices: Ints = np.array([len(host.machine.devices) for host in self.hosts], np.int64)
        """By host: how many GPUs it has; of an offering, each of its instances."""
        self.offered_gpus = sum(
            instances * gpus
            for instances, gpus in zip(self.instances.tolist(), self.devices.tolist(), strict=True)
        )
        """How many GPUs all the instances have that can be had."""
        self.largest_offered = int(self.devices[self.instances > 0].max(initial=0))
        self.mean_per_gpu = self.room[:2].clip(0).sum(axis=1) / max(1, int(self.usable_gpus.sum()))
        """The cores and memory that are free for a usable GPU, over all hosts."""
        self.where: list[Ints] = []
        """By class: the hosts where a worker of it could be at the start."""
        self.fits: list[bool] = []
        """By class: whether one of its runs fits whole, alone, in what is free at the start."""
        self.priced_as = [_price(host) for host in self.hosts]
        """By machine: hosts that share it are of one worth to any class."""
        self.appraisals: list[Appraisal | None] = []
        """By class: what the hosts in `where` are worth to it, where anything tells them apart."""
        purses = eligibility.prices.purses
        self.purses_of = [
            [purse.key for purse in purses if each.ask.workspace in purse.workspaces]
            for each in classes
        ]
        """By class: the keys of the purses that it is paid from."""
        self.purses_of_any = any(self.purses_of)
        self._pooled: list[list[tuple[int, Ints]]] = []
        self._shared: dict[Hashable, Ints] = {}
        for index in range(len(self.classes)):
            self._find_hosts(index)

    def slots(self, index: int, room: Ints, at: Ints | slice = ALL) -> Ints:
        """Return how many workers of a class its hosts could take with this much room.

        `at` are positions in `where[index]`.
        """
        there = self.where[index][at]
        slots = np.full(len(there), PLENTY, np.int64)
        for column, amount in self._amounts(index):
            np.minimum(slots, np.maximum(room[column, there], 0) // amount, out=slots)
        for column, by_family in self._pooled[index]:
            need = by_family[self.family_of[there]]
            fits = np.maximum(room[column, there], 0) // np.maximum(need, 1)
            np.minimum(slots, np.where(need > 0, fits, PLENTY), out=slots)
        if self.is_offered:
            slots = np.where(self.offered[there], room[INSTANCES, there], slots)
        return slots

    def take(self, index: int, at: Ints, workers: Ints, room: Ints) -> None:
        """Take from the room what workers of a class need, so many at these of its hosts.

        `at` are positions in `where[index]`, none of them twice.
        """
        hosts = self.where[index][at]
        bought = self.offered[hosts]
        room[INSTANCES, hosts[bought]] -= workers[bought]
        for column, amount in self._amounts(index):
            room[column, hosts] -= amount * np.where(bought, 0, workers)
        for column, by_family in self._pooled[index]:
            room[column, hosts] -= by_family[self.family_of[hosts]] * workers

    def positions(self, index: int, hosts: Ints) -> Ints:
        """Return where in `where[index]` these hosts are; those that aren't there are left out."""
        there = self.where[index]
        at: Ints = np.searchsorted(there, hosts)
        inside = at < len(there)
        at, hosts = at[inside], hosts[inside]
        found: Ints = at[there[at] == hosts]
        return found

    def cost(self, index: int) -> Ints:
        """Return what a worker of a class is expected to cost on each of its hosts."""
        each = self.appraisals[index]
        return np.zeros(len(self.where[index]), np.int64) if each is None else each.cost

    @cached_property
    def workers_by_tier(self) -> Sequence[int]:
        """By tier: how many workers there are of classes that have a host of it."""
        found: list[dict[str, int]] = [{} for _ in Tier]
        for own, each in zip(self.classes, self.appraisals, strict=True):
            for tier in set(each.tier.tolist()) if each is not None else ():
                workers = own.count * (own.ask.tasks or 0)
                found[tier][own.first] = max(workers, found[tier].get(own.first, 0))
        return [sum(own.values()) for own in found]

    @cached_property
    def used(self) -> Sequence[int]:
        """The hosts on which some class could be."""
        return sorted({host for there in self.where for host in there.tolist()})

    def narrowed(self, kept: Sequence[Ints]) -> Grid:
        """Return the same with fewer hosts for each class: those at these positions."""
        other = copy.copy(self)
        other.__dict__.pop("used", None)
        other.where = [there[own] for there, own in zip(self.where, kept, strict=True)]
        other.appraisals = [
            each and each.only(own) for each, own in zip(self.appraisals, kept, strict=True)
        ]
        return other

    @cached_property
    def siblings(self) -> Sequence[Sequence[int]]:
        """The options of the same runs, those of each together, the best first."""
        found: dict[str, list[int]] = {}
        for index, each in enumerate(self.classes):
            if each.option is not None:
                found.setdefault(each.first, []).append(index)
        return list(found.values())

    def free_for(self, index: int, hosts: Ints) -> Ints:
        """Return how many GPUs that a class may use are free on hosts of its own, at the start."""
        usable = self.usable[index]
        free = [
            sum(n for lot, n in enumerate(self.lots[host]) if usable[family] >> lot & 1)
            for host, family in zip(hosts.tolist(), self.family_of[hosts].tolist(), strict=True)
        ]
        return np.array(free, np.int64)

    def _usable(self, ask: Ask, host: Host) -> int:
        if not ask.tasks or self.eligibility.fails(ask, host):
            return UNUSABLE
        if host.offering:
            fits = self.eligibility.slots_at_any_price(ask, host, host.empty)
            return 0 if fits else UNUSABLE
        if not ask.gpus:
            return 0
        usable = [(index, lot) for index, lot in enumerate(host.lots) if is_usable(ask, lot)]
        if sum(len(lot.ids) for _, lot in usable) < ask.gpus:
            return UNUSABLE
        return sum(1 << index for index, _ in usable)

    def _takes_all(self, ask: Ask, family: int, usable: int) -> bool:
        """Whether a worker pins GPUs and takes all that it may on hosts of a family."""
        return bool(ask.ids) and usable > 0 and self._size(family, usable) == ask.gpus

    def _size(self, family: int, lots: int) -> int:
        """Return how many GPUs these lots of a family are."""
        return sum(
            len(being.ids)
            for lot, being in enumerate(self.families[family].lots)
            if lots >> lot & 1
        )

    def _kinds(self, family: int) -> list[tuple[int, bool, frozenset[int]]]:
        found = []
        for lot, being in enumerate(self.families[family].lots):
            users = frozenset(
                index
                for index, usable in enumerate(self.usable)
                if usable[family] > 0 and usable[family] >> lot & 1
            )
            if users:
                found.append((lot, being.condition == "at_risk", users))
        return found

    def _pools(self, family: int) -> list[int]:
        found: set[int] = set()
        pinned = 0
        for each, usable in zip(self.classes, self.usable, strict=True):
            if self._takes_all(each.ask, family, usable[family]):
                pinned |= usable[family]
            elif usable[family] > 0:
                found.add(usable[family])
        alone = {1 << lot for lot in range(pinned.bit_length()) if pinned >> lot & 1}
        return sorted(_closed(found) | alone)

    def _room(self) -> Ints:
        room = np.full((self.columns, len(self.hosts)), PLENTY, np.int64)
        room[CORES] = [0 if host.offering else host.start.millicores for host in self.hosts]
        room[MEMORY] = [0 if host.offering else host.start.memory_bytes for host in self.hosts]
        room[INSTANCES] = self.instances
        for position, (family, lots) in enumerate(zip(self.family_of, self.lots, strict=True)):
            for column, pool in enumerate(self.pools[family], start=POOLS):
                room[column, position] = sum(
                    free for lot, free in enumerate(lots) if pool >> lot & 1
                )
        return room

    def _gpus(self) -> tuple[Ints, Ints]:
        usable, sound = np.zeros((2, len(self.hosts)), np.int64)
        for position, (family, lots) in enumerate(zip(self.family_of, self.lots, strict=True)):
            for lot, at_risk, _ in self.kinds[family]:
                usable[position] += lots[lot]
                sound[position] += 0 if at_risk else lots[lot]
        return usable, sound

    def _find_hosts(self, index: int) -> None:
        ask = self.classes[index].ask
        may = np.array([own != UNUSABLE for own in self.usable[index]], np.bool_)
        there = np.nonzero(may[self.family_of])[0] if len(self.families) else _NONE
        own = self.classes[index]
        if own.deal is not None:
            there = np.intersect1d(there, own.deal.hosts, assume_unique=True)
        elif own.group is not None:
            there = np.intersect1d(there, own.group.hosts, assume_unique=True)
        barred = self.eligibility.barred(ask) if own.deal is None else None
        if barred is not None:
            there = there[~barred[there]]
        self.where.append(there)
        self._pooled.append(self._needs(index, ask.gpus) if ask.gpus else [])
        slots = self.slots(index, self.room)
        found = there[slots > 0]
        self.where[index] = self._shared.setdefault(found.tobytes(), found)
        workers = self.eligibility.ladder.workers(ask, there, slots)
        self.fits.append(workers >= (ask.tasks or 0) > 0)
        self.appraisals.append(self._appraised(own, self.where[index]))

    def _appraised(self, own: RunClass, hosts: Ints) -> Appraisal | None:
        if own.deal is None or own.deal.appraisal is None:
            return appraised(own.ask, self.eligibility.prices, hosts, own.own)
        return own.deal.appraisal.only(np.searchsorted(own.deal.hosts, hosts))

    def _amounts(self, index: int) -> Iterator[tuple[int, int]]:
        """Yield what a worker takes beside GPUs, by column."""
        ask = self.classes[index].ask
        if ask.millicores:
            yield CORES, ask.millicores
        if ask.memory_bytes:
            yield MEMORY, ask.memory_bytes

    def _needs(self, index: int, gpus: int) -> list[tuple[int, Ints]]:
        """Return the pools that a worker takes from, with how much by family."""
        needs = []
        for column in range(POOLS, self.columns):
            by_family = np.zeros(len(self.families), np.int64)
            for family, own in enumerate(self.usable[index]):
                if own > 0 and column - POOLS < len(self.pools[family]):
                    pool = self.pools[family][column - POOLS]
                    by_family[family] = gpus * (own & ~pool == 0)
                    if self._takes_all(self.classes[index].ask, family, own):
                        by_family[family] = self._size(family, own & pool)
            if by_family.any():
                key = (column, by_family.tobytes())
                needs.append((column, self._shared.setdefault(key, by_family)))
        return needs


def _price(host: Host) -> Hashable:
    tariff = host.tariff
    if host.offering or not (tariff.rate or host.machine.byoc_pool or host.accelerators):
        return None
    return (tariff.rate, tariff.paid_s, host.machine.byoc_pool, host.accelerators)


_NONE: Ints = np.zeros(0, np.int64)


def _closed(sets: Iterable[int]) -> set[int]:
    """Return sets of lots with the union of every two that overlap."""
    closed: set[int] = set()
    for each in sets:
        fresh = {each}
        while fresh:
            closed |= fresh
            fresh = {one | other for one in fresh for other in closed if one & other} - closed
    return closed
