"""A first answer without search: runs in line, each on the host that it fills best.

It knows no rule: whether one more run may start is asked of the program's own rows, so that a
new rule binds here too.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

from stowplan.solver.asks import RunClass, queue_order
from stowplan.solver.choices import Choices, Kind
from stowplan.solver.hosts import Host
from stowplan.solver.ledger import Ledger
from stowplan.solver.linear import Sum

type Order = Callable[[_Candidate], tuple[float, ...]]
"""Which runs come first."""
type Move = dict[int, int]
"""What is added to which variable."""


@dataclass(frozen=True)
class _Candidate:
    each: RunClass
    cohort: int
    position: int
    """Where its oldest run stands in line, among all."""

    @property
    def weight(self) -> int:
        return self.each.cohorts[self.cohort].weight

    @property
    def age(self) -> float:
        return self.weight / self.each.ask.units


def greedy(choices: Choices) -> list[int]:
    """Return values that keep every row: the best by weight of a few ways to fill the hosts."""
    most = _weights(choices, choices.program.upper)
    best: list[int] | None = None
    for way in _ways(choices):
        values = way()
        if best is None or _weights(choices, values) > _weights(choices, best):
            best = values
        if _weights(choices, best) == most:
            break
    assert best is not None
    return best


def _ways(choices: Choices) -> Iterator[Callable[[], list[int]]]:
    nothing = [0] * len(choices.program.upper)
    for order in (_in_line,) if choices.limits.neighbours_in_line else _ORDERS:
        yield functools.partial(filled, choices, nothing, order)
    yield functools.partial(first_fit, choices, nothing)


def first_fit(choices: Choices, values: list[int]) -> list[int]:
    """Return the values with every further run on the first host that takes it, one by one."""
    ledger = Ledger(choices.program, list(values), _watched(choices))
    one_by_one = [
        (queue_order(run, choices.snapshot), each, index, size)
        for each in choices.classes
        for index, cohort in enumerate(each.cohorts)
        if choices.starting(each, index)
        for run, size in ((run, cohort.count // len(cohort.runs)) for run in cohort.runs)
    ]
    one_by_one.sort(key=lambda item: item[0])
    hosts = {each.name: list(choices.hosts_for(each)) for each in choices.classes}
    for _, each, index, size in one_by_one:
        _start(choices, ledger, _Candidate(each, index, 0), hosts[each.name], size)
    return ledger.values


def filled(choices: Choices, values: list[int], order: Order | None = None) -> list[int]:
    """Return the values with every further run that still fits, in line."""
    ledger = Ledger(choices.program, list(values), _watched(choices))
    startable = [
        (each, index)
        for each in choices.classes
        for index in range(len(each.cohorts))
        if choices.starting(each, index)
    ]
    startable.sort(key=lambda pair: queue_order(pair[0].cohorts[pair[1]].runs[0], choices.snapshot))
    candidates = [_Candidate(*pair, position) for position, pair in enumerate(startable)]
    for candidate in sorted(candidates, key=order or _in_line):
        left = candidate.each.cohorts[candidate.cohort].count
        _start(choices, ledger, candidate, _fullest_first(choices, ledger, candidate.each), left)
    return ledger.values


def _watched(choices: Choices) -> dict[Hashable, Sum]:
    """Return what the order of hosts reads: cores taken by host, GPUs taken by kind."""
    taken: dict[Hashable, Sum] = {}
    for host in choices.hosts:
        taken[host] = choices.millicores_taken(host)
        taken.update((kind, choices.gpus_taken(kind)) for kind in choices.kinds(host))
    return taken


def _in_line(candidate: _Candidate) -> tuple[float, ...]:
    return (candidate.position,)


def _oldest_first(candidate: _Candidate) -> tuple[float, ...]:
    ask = candidate.each.ask
    return (-ask.priority, -candidate.age, -ask.gpus, -ask.millicores)


def _largest_first(candidate: _Candidate) -> tuple[float, ...]:
    ask = candidate.each.ask
    return (-ask.priority, -ask.gpus, -candidate.age, -ask.millicores)


def _lightest_first(candidate: _Candidate) -> tuple[float, ...]:
    ask = candidate.each.ask
    return (-ask.priority, -ask.gpus, ask.millicores / max(1, ask.gpus), -candidate.age)


_ORDERS = (_oldest_first, _largest_first, _lightest_first)


def _weights(choices: Choices, values: Sequence[int]) -> tuple[int, ...]:
    tiers = {each.ask.priority: 0 for each in choices.classes}
    for each in choices.classes:
        for index, cohort in enumerate(each.cohorts):
            tiers[each.ask.priority] += cohort.weight * choices.starting(each, index).at(values)
    return tuple(tiers[priority] for priority in sorted(tiers, reverse=True))


def _start(
    choices: Choices, ledger: Ledger, candidate: _Candidate, hosts: list[Host], most: int
) -> None:
    """Start as many runs of a cohort as the rows allow, at most so many.

    Hosts that take no more single workers are dropped from the list: they never will again.
    """
    each = candidate.each
    start = next(iter(choices.starting(each, candidate.cohort).terms))
    left = min(most, each.cohorts[candidate.cohort].count - ledger.values[start])
    if each.ask.tasks != 1:
        while left and (found := _whole_run(choices, ledger, each, hosts, start)):
            ledger.make(found)
            left -= 1
        return
    while left and hosts:
        move = {start: 1} | _worker(choices, ledger, each, hosts[0], {})
        single = len(choices.kinds_for(each, hosts[0])) <= 1
        times = ledger.times(move, left if single else 1)
        if times:
            ledger.make(move, times)
            left -= times
        else:
            hosts.pop(0)


def _whole_run(
    choices: Choices, ledger: Ledger, each: RunClass, hosts: list[Host], start: int
) -> Move | None:
    """Return the move that starts one run of several workers, or None where it doesn't fit."""
    move: Move = {start: 1}
    needed = each.ask.tasks or 0
    for host in hosts:
        for _ in range(needed if each.ask.may_share else 1):
            added = _worker(choices, ledger, each, host, move)
            if not ledger.times(_sum(move, added, without=start), 1):
                break
            move = _sum(move, added)
            needed -= 1
            if not needed:
                return move if ledger.times(move, 1) else None
    return None


def _sum(one: Move, other: Move, without: int | None = None) -> Move:
    columns = (one.keys() | other.keys()) - {without}
    return {column: one.get(column, 0) + other.get(column, 0) for column in columns}


def _worker(choices: Choices, ledger: Ledger, each: RunClass, host: Host, planned: Move) -> Move:
    """Return the move that puts one more worker of a class on a host."""
    move = dict.fromkeys(choices.workers_on(each, host).terms, 1)
    kinds = choices.kinds_for(each, host)
    if len(kinds) <= 1:
        return move
    needed = each.ask.gpus
    for kind in sorted(kinds, key=lambda kind: (kind.at_risk, _users(choices, kind))):
        taken = choices.gpus_taken(kind)
        free = (
            kind.free
            - ledger.totals[kind]
            - sum(planned.get(column, 0) * value for column, value in taken.terms.items())
        )
        (column,) = choices.gpus_on(each, kind).terms
        amount = max(0, min(free, needed))
        if amount:
            move[column] = amount
        needed -= amount
    return move


def _users(choices: Choices, kind: Kind) -> int:
    """How many classes could use these GPUs: the fewer, the sooner they are given."""
    return len(choices.gpus_taken(kind).terms)


def _fullest_first(choices: Choices, ledger: Ledger, each: RunClass) -> list[Host]:
    """Return the class's hosts, those with the least room left first; CPU work spares GPUs."""

    def left(host: Host) -> tuple[int, ...]:
        free = sound = 0
        for kind in choices.kinds(host):
            count = kind.free - ledger.totals[kind]
            free += count
            sound += 0 if kind.at_risk else count
        cores = host.start.millicores - ledger.totals[host]
        if each.ask.gpus:
            return (sound < each.ask.gpus, free % each.ask.gpus, free, cores)
        return (bool(host.machine.devices), free, cores)

    return sorted(choices.hosts_for(each), key=left)
