"""Cells and signatures: hosts, and classes of runs, that the program need not tell apart.

A cell is a set of hosts on which the same classes may be, with the same kinds of GPU; classes that
ask the same of the same hosts share a signature. Counts of workers by signature and cell are then
exact where only GPUs can run short and sizes divide each other; elsewhere they are a relaxation:
its bound holds, and its answer is packed onto the hosts and corrected.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np

from stowplan.solver.asks import Ask, RunClass
from stowplan.solver.grid import CORES, MEMORY, UNUSABLE, Grid, Ints

BUCKETS = 10
"""Into how many sizes hosts are sorted by their free cores, and by their free memory."""

MANY = 300
"""Signatures past which those that ask nearly the same become one."""

MOST_CELLS = 2000
"""Cells past which a program isn't made of them."""

type Finer = Literal["least", "at_risk", "all"]


@dataclass(frozen=True, eq=False)
class Kind:
    """Free GPUs of a cell that the same signatures can use, and at the same risk."""

    free: int
    at_risk: bool
    users: frozenset[int]
    """Classes, by their place in the grid."""


@dataclass(frozen=True, eq=False)
class Cell:
    """Hosts that the program takes together."""

    hosts: Ints
    """Their places in the grid, ascending."""
    kinds: tuple[Kind, ...]
    millicores: int
    """Free on all of them together; a host that is overdrawn has none."""
    memory_bytes: int
    most_sound: int
    """The most usable GPUs, not at risk, that are free on one of them."""
    cores_bind: bool
    """Whether more cores could be asked for than are free on one of them."""
    memory_binds: bool
    instances: int | None
    """Of offerings: how many of them can be had; None of machines."""


@dataclass(frozen=True, eq=False)
class Signature:
    """Classes whose workers the program need not tell apart."""

    ask: Ask
    """Stands for all of them in what the program reads: where they differ, the least they ask."""
    members: tuple[int, ...]
    """The classes' places in the grid."""
    classes: tuple[RunClass, ...]

    @property
    def keeps_apart(self) -> bool:
        """Whether no two workers of one run may be on one host; then it has only one class."""
        return self.ask.keeps_apart


def apart(grid: Grid, hosts: Iterable[int] | None = None) -> list[Cell]:
    """Return each host as a cell of its own."""
    binds = np.ones((2, len(grid.hosts)), np.int64)
    chosen = range(len(grid.hosts)) if hosts is None else hosts
    return [_cell(grid, [host], binds) for host in chosen]


def merged(grid: Grid, binds: Ints, *, finer: Finer | None = None) -> list[Cell]:
    """Return hosts that are alike, together.

    Where cores or memory can run short (by `binding`), only hosts with as many free GPUs. `finer`
    asks that of those with GPUs at risk too; or of all, and of their cores and memory nearly so;
    or of none, at the least.
    """
    by_free = finer == "all" or (finer != "least" and bool(binds.any()))
    patterns = [_pattern(grid, family) for family in range(len(grid.families))]
    users_of = [{lot: tuple(sorted(users)) for lot, _, users in kinds} for kinds in grid.kinds]
    buckets = _buckets(grid, binds) if finer == "all" else np.zeros((2, len(grid.hosts)), np.int64)
    alike: dict[object, list[int]] = {}
    for host, (family, lots) in enumerate(zip(grid.family_of, grid.lots, strict=True)):
        if not patterns[family]:
            continue
        here = [(lot, at_risk) for lot, at_risk, _ in grid.kinds[family] if lots[lot]]
        counted = by_free or (finer == "at_risk" and any(at_risk for _, at_risk in here))
        free: object = tuple(
            sorted(
                (at_risk, users_of[family][lot], lots[lot] if counted else 1)
                for lot, at_risk in here
            )
        )
        if grid.offered[host]:
            free = ("offering", host if grid.purses_of_any else None)
        key = (patterns[family], free, grid.priced_as[host], *buckets[:, host].tolist())
        alike.setdefault(key, []).append(host)
    return [_cell(grid, hosts, binds) for hosts in alike.values()]


def signatures(grid: Grid, binds: Ints | None = None) -> list[Signature]:
    """Return the signatures of all classes that could be somewhere.

    Without `binds` each class has its own. With it, where there would be too many, classes that ask
    nearly the same share one, which asks the least of them: the program is a relaxation then.
    """
    for per_octave in (0, 8, 4, 2, 1):
        alike: dict[object, list[int]] = {}
        for index in range(len(grid.classes)):
            if len(grid.where[index]):
                key = index if binds is None else _signature(grid, index, binds, per_octave)
                alike.setdefault(key, []).append(index)
        if binds is None or len(alike) <= MANY:
            break
    return [_of_all(grid, members) for members in alike.values()]


def _of_all(grid: Grid, members: Sequence[int]) -> Signature:
    classes = tuple(grid.classes[index] for index in members)
    ask = classes[0].ask
    if len(classes) > 1:
        least = (
            min(each.ask.millicores for each in classes),
            min(each.ask.memory_bytes for each in classes),
        )
        if least != (ask.millicores, ask.memory_bytes):
            ask = replace(ask, millicores=least[0], memory_bytes=least[1])
    return Signature(ask, tuple(members), classes)


def _signature(grid: Grid, index: int, binds: Ints, per_octave: int) -> object:
    """Return what classes of one signature share; amounts are in so many steps to a doubling."""
    ask = grid.classes[index].ask
    if ask.keeps_apart or grid.classes[index].group is not None:
        return index
    cores, memory = binds.any(axis=1).tolist()
    amounts: tuple[int, ...] = (ask.millicores * bool(cores), ask.memory_bytes * bool(memory))
    if per_octave:
        amounts = tuple(int(math.log2(each) * per_octave) if each else -1 for each in amounts)
    return (ask.gpus, *amounts, grid.usable[index])


def _pattern(grid: Grid, family: int) -> tuple[int, ...]:
    """Return the classes that may be on hosts of a family."""
    return tuple(index for index, usable in enumerate(grid.usable) if usable[family] >= 0)


def _cell(grid: Grid, hosts: Sequence[int], binds: Ints) -> Cell:
    free: dict[tuple[bool, frozenset[int]], int] = {}
    for host in hosts:
        for lot, at_risk, users in grid.kinds[grid.family_of[host]]:
            if grid.lots[host][lot]:
                key = (at_risk, users)
                free[key] = free.get(key, 0) + grid.lots[host][lot]
    there = np.array(sorted(hosts), np.int64)
    is_offered = bool(grid.offered[there[0]])
    return Cell(
        hosts=there,
        kinds=tuple(Kind(count, *key) for key, count in free.items()),
        millicores=int(np.maximum(grid.room[CORES, there], 0).sum()),
        memory_bytes=int(np.maximum(grid.room[MEMORY, there], 0).sum()),
        most_sound=int(grid.sound_gpus[there].max(initial=0)),
        cores_bind=bool(binds[CORES, there].any()) and not is_offered,
        memory_binds=bool(binds[MEMORY, there].any()) and not is_offered,
        instances=int(grid.instances[there].sum()) if is_offered else None,
    )


def _buckets(grid: Grid, binds: Ints) -> Ints:
    """Return by column and host which tenth of the greatest free cores, or memory, it has."""
    room = grid.room[:2].clip(0)
    width = np.maximum(1, -(-room.max(axis=1, initial=1) // BUCKETS))
    buckets: Ints = np.where(binds.any(axis=1)[:, None], room // width[:, None], 0)
    return buckets


def binding(grid: Grid) -> Ints:
    """Return by column and host whether more cores, or memory, could be asked for than are free.

    What workers with GPUs ask is at most the greatest ask for one GPU, times the free GPUs; to
    that come all the workers without GPUs that there are.
    """
    binds = np.zeros((2, len(grid.hosts)), np.int64)
    for family in range(len(grid.families)):
        if grid.families[family].offering:
            continue  # only how many instances there are can bind
        here = np.nonzero(grid.family_of == family)[0]
        asks = [
            (each.ask, each.count * (each.ask.tasks or 0))
            for each, usable in zip(grid.classes, grid.usable, strict=True)
            if usable[family] != UNUSABLE
        ]
        for column in (CORES, MEMORY):
            without = sum(_amount(ask, column) * most for ask, most in asks if not ask.gpus)
            greatest = [Fraction(_amount(ask, column), ask.gpus) for ask, _ in asks if ask.gpus]
            for_a_gpu = max(greatest, default=Fraction(0))
            usable_gpus, free = grid.usable_gpus[here].tolist(), grid.room[column, here].tolist()
            binds[column, here] = [
                0 < for_a_gpu * gpus + without > max(0, room)
                for gpus, room in zip(usable_gpus, free, strict=True)
            ]
    return binds


def _amount(ask: Ask, column: int) -> int:
    return ask.millicores if column == CORES else ask.memory_bytes
