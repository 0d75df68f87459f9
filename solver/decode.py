"""From counts to workers: which run starts where, and with which GPUs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stowplan.model.fleet import Device
from stowplan.solver.asks import RunClass
from stowplan.solver.choices import Choices
from stowplan.solver.hosts import Host
from stowplan.solver.points import Load

_HEALTH = ("healthy", "unknown", "at_risk", "faulted")


@dataclass(frozen=True)
class Seat:
    """One worker's place: a host, and the ids of its GPUs there."""

    host: Host
    devices: tuple[str, ...]
    at_risk: int
    """How many of them are at risk."""


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


def decoded(choices: Choices, values: Sequence[int]) -> Plan:
    """Return the plan that the values stand for. Ids go healthy first, at risk last."""
    seats = _seats(choices, values)
    starts: list[Start] = []
    loads = {host.name: Load() for host in choices.hosts}
    for each in choices.classes:
        count = choices.starts(each).at(values)
        if not count:
            continue
        names = _starting(each, count)
        for (run, element), own in zip(names, _dealt(each, count, seats[each.name]), strict=True):
            starts.append(Start(each, run, element, own))
            for seat in own:
                load = loads[seat.host.name]
                loads[seat.host.name] = load.plus(each.ask, seat.host, seat.at_risk)
    return Plan(tuple(starts), loads)


def _starting(each: RunClass, count: int) -> list[tuple[str, int | None]]:
    """Return which runs start: the oldest, or of an array the lowest elements."""
    if each.ask.array:
        return [(each.name, element) for element in each.elements[:count]]
    return [(run.name, None) for run in each.runs[:count]]


def _dealt(each: RunClass, count: int, seats: list[Seat]) -> list[tuple[Seat, ...]]:
    """Deal a class's seats out to its runs; no run twice on a host, where workers never share.

    Each run takes from the hosts with the most seats left: with at most `count` seats a host
    that always comes out even.
    """
    tasks = each.ask.tasks or 0
    if each.ask.may_share or tasks == 1:
        return [tuple(seats[index * tasks : (index + 1) * tasks]) for index in range(count)]
    by_host: dict[str, list[Seat]] = {}
    for seat in seats:
        by_host.setdefault(seat.host.name, []).append(seat)
    dealt = []
    for _ in range(count):
        fullest = sorted(by_host.values(), key=len, reverse=True)[:tasks]
        own = [left.pop() for left in fullest]
        dealt.append(tuple(sorted(own, key=lambda seat: seat.host.name)))
    return dealt


def _seats(choices: Choices, values: Sequence[int]) -> Mapping[str, list[Seat]]:
    """Return each class's seats, by the hosts' order."""
    seats: dict[str, list[Seat]] = {each.name: [] for each in choices.classes}
    for host in choices.hosts:
        order = _in_order(host.machine.devices)
        health = {device.id: device.health for device in host.machine.devices}
        free = {kind: sorted(kind.ids, key=order.__getitem__) for kind in choices.kinds(host)}
        for each in choices.classes_on(host):
            workers = choices.workers_on(each, host).at(values)
            given: list[str] = []
            for kind in choices.kinds_for(each, host):
                amount = choices.gpus_on(each, kind).at(values)
                given += free[kind][:amount]
                del free[kind][:amount]
            given.sort(key=order.__getitem__)
            size = each.ask.gpus
            for index in range(workers):
                devices = tuple(given[index * size : (index + 1) * size])
                risk = sum(health[device] == "at_risk" for device in devices)
                seats[each.name].append(Seat(host, devices, risk))
    return seats


def _in_order(devices: Sequence[Device]) -> Mapping[str, int]:
    """Return the order in which GPUs are given out: by health, then by index."""
    ranked = sorted(devices, key=lambda each: (_HEALTH.index(each.health), each.index, each.id))
    return {device.id: rank for rank, device in enumerate(ranked)}
