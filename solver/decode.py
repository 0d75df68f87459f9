"""From counts to workers: which run starts where, and with which GPUs."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stowplan.model.fleet import Device
from stowplan.solver.asks import RunClass
from stowplan.solver.grid import Grid
from stowplan.solver.handout import handed_out
from stowplan.solver.hosts import Host
from stowplan.solver.layout import Layout
from stowplan.solver.money.prices import Left
from stowplan.solver.points import Load

_HEALTH = ("healthy", "unknown", "at_risk", "faulted")


@dataclass(frozen=True)
class Seat:
    """One worker's place: a host, and the ids of its GPUs there."""

    host: Host
    devices: tuple[str, ...]
    at_risk: int
    """How many of them are at risk."""
    name: str
    """The machine's, or the instance's."""


@dataclass(frozen=True)
class Start:
    """A run (of an array, an element) that starts, and where its workers go."""

    each: RunClass
    run: str
    element: int | None
    seats: tuple[Seat, ...]


@dataclass(frozen=True)
class Plan:
    """Everything that starts in this cycle."""

    starts: tuple[Start, ...]
    loads: Mapping[str, Load]
    """What it puts on each host, by name."""
    left: Left
    """What it leaves of the purses."""
    references: Mapping[str, Sequence[tuple[int, int]]]
    """By class that may choose by value: the tiers and measures that its workers were left."""


def decoded(layout: Layout) -> Plan:
    """Return the plan that a layout stands for. Ids go healthy first, at risk last."""
    grid = layout.grid
    seats = _seats(layout)
    starts: list[Start] = []
    loads = {host.name: Load() for host in grid.hosts}
    named = _Names()
    for each, started, own_seats in zip(grid.classes, layout.started, seats, strict=True):
        count = sum(started)
        if not count:
            continue
        names = named.starting(each, started)
        for (run, element), own in zip(names, _dealt(grid, each, count, own_seats), strict=True):
            starts.append(Start(each, run, element, own))
        for (host, at_risk), times in Counter((s.host, s.at_risk) for s in own_seats).items():
            loads[host.name] = loads[host.name].plus(each.ask, host, at_risk, times)
    return Plan(
        starts=tuple(starts),
        loads=loads,
        left=dict(layout.left),
        references=_references(layout),
    )


def _references(layout: Layout) -> dict[str, Sequence[tuple[int, int]]]:
    """Return what runs were left, by the option that they take now: it may be another."""
    classes = layout.grid.classes
    left: dict[tuple[str, int | None], list[tuple[int, int]]] = {}
    for each, own in zip(classes, layout.references, strict=True):
        if own and (each.deal or each.own):
            left.setdefault((each.first, each.copy), []).extend(own)
    found: dict[str, Sequence[tuple[int, int]]] = {}
    for each, own, started in zip(classes, layout.references, layout.started, strict=True):
        if each.deal or each.own:
            theirs = left.get((each.first, each.copy), [])
            found[each.name] = sorted(theirs)[: sum(started)]
        else:
            found[each.name] = own
    return {name: own for name, own in found.items() if own}


class _Names:
    """Which runs start: of each class the oldest, each in one of its options."""

    def __init__(self) -> None:
        self._given: dict[tuple[str, int], int] = {}
        """How many runs of a cohort have got an option."""

    def starting(self, each: RunClass, started: Sequence[int]) -> list[tuple[str, int | None]]:
        """Return the next runs of a class that start, or of an array the lowest elements."""
        if each.ask.array:
            return [(each.name, element) for element in each.elements[: sum(started)]]
        if each.option is None:
            return [(run.name, None) for run in each.runs[: sum(started)]]
        found: list[tuple[str, int | None]] = []
        for number, (cohort, count) in enumerate(zip(each.cohorts, started, strict=True)):
            begin = self._given.get((each.first, number), 0)
            found.extend((run.name, None) for run in cohort.runs[begin : begin + count])
            self._given[each.first, number] = begin + count
        return found


def _dealt(grid: Grid, each: RunClass, count: int, seats: list[Seat]) -> list[tuple[Seat, ...]]:
    """Deal a class's seats out to its runs; no run twice on a host, where workers never share.

    Each run takes from the hosts (the racks, or fabrics, where it spreads over those) with the most
    seats left: with at most `count` seats each that always comes out even.
    """
    tasks, spread = each.ask.tasks or 0, each.ask.spread
    if each.ask.may_share or tasks == 1:
        return [tuple(seats[index * tasks : (index + 1) * tasks]) for index in range(count)]
    units = grid.eligibility.ladder.units(spread) if spread in ("rack", "fabric") else None
    by_unit: dict[object, list[Seat]] = {}
    for seat in seats:
        unit = seat.name if units is None else int(units[seat.host.place])
        by_unit.setdefault(unit, []).append(seat)
    dealt = []
    for _ in range(count):
        fullest = sorted(by_unit.values(), key=len, reverse=True)[:tasks]
        own = [left.pop() for left in fullest]
        dealt.append(tuple(sorted(own, key=lambda seat: seat.name)))
    return dealt


def _seats(layout: Layout) -> list[list[Seat]]:
    """Return each class's seats, by the hosts' order."""
    grid = layout.grid
    seats: list[list[Seat]] = [[] for _ in grid.classes]
    for position, there in enumerate(layout.by_host()):
        if not there:
            continue
        host = grid.hosts[position]
        if host.offering:
            _take_instances(seats, grid, host, there)
            continue
        given = _given(grid, position, there)
        health = {device.id: device.health for device in host.machine.devices}
        for index, workers in there:
            size, own = grid.classes[index].ask.gpus, given.get(index, [])
            for place in range(workers):
                devices = tuple(own[place * size : (place + 1) * size])
                risk = sum(health[device] == "at_risk" for device in devices)
                seats[index].append(Seat(host, devices, risk, host.name))
    return seats


def _take_instances(
    seats: list[list[Seat]], grid: Grid, host: Host, there: Sequence[tuple[int, int]]
) -> None:
    """Give each worker on an offering an instance, and the first of its GPUs."""
    names = iter(host.instances)
    for index, workers in there:
        gpus = grid.classes[index].ask.gpus
        for name in itertools.islice(names, workers):
            devices = tuple(f"{name}/{number}" for number in range(gpus))
            seats[index].append(Seat(host, devices, 0, name))


def _given(grid: Grid, position: int, there: Sequence[tuple[int, int]]) -> dict[int, list[str]]:
    """Return the ids of the GPUs that each class gets on a host."""
    host = grid.hosts[position]
    parts = handed_out(grid, position, there)
    if not parts:
        return {}
    order = _in_order(host.machine.devices)
    free = {
        lot: sorted(host.lots[lot].ids & host.start.devices, key=order.__getitem__)
        for lot in {part.lot for part in parts}
    }
    given: dict[int, list[str]] = {}
    for part in parts:
        given.setdefault(part.owner, []).extend(free[part.lot][: part.amount])
        del free[part.lot][: part.amount]
    for ids in given.values():
        ids.sort(key=order.__getitem__)
    return given


def _in_order(devices: Sequence[Device]) -> Mapping[str, int]:
    """Return the order in which GPUs are given out: by health, then by index."""
    ranked = sorted(devices, key=lambda each: (_HEALTH.index(each.health), each.index, each.id))
    return {device.id: rank for rank, device in enumerate(ranked)}
