"""A first answer without search: runs in line, each on the hosts that it fills best.

It knows no rule: what hosts can take is asked of the layout, and whether more runs may start of
the program's own rows over starts, so that a new rule binds here too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from stowplan.solver.asks import Ask, queue_order
from stowplan.solver.choices import Choices
from stowplan.solver.grid import ALL, CORES, MEMORY, Ints
from stowplan.solver.layout import Layout, in_turn
from stowplan.solver.ledger import Ledger
from stowplan.solver.money.caps import Cap, best_set

type Order = Callable[[_Candidate], tuple[float, ...]]
"""Which runs come first."""


class Choice(Protocol):
    """Which of a class's hosts are filled first."""

    def __call__(self, layout: Layout, index: int, at: Ints | slice = ALL) -> Ints:
        """Return an order of the hosts at these positions."""


@dataclass(frozen=True)
class _Candidate:
    """Runs of one class that weigh the same."""

    options: Sequence[int]
    """The class, or all its options, the best first."""
    cohort: int
    position: int
    """Where its oldest run stands in line, among all."""
    ask: Ask
    hosts: int
    """On how many hosts it could be."""
    age: float
    lean: float
    """What a worker asks beside its GPUs, against what there is for a GPU."""


def greedy(
    choices: Choices, enough: Callable[[Layout], bool], start: Layout | None = None
) -> Layout:
    """Return the best, by weight, of a few ways to fill the hosts; stops with the first enough.

    With a layout to start from, what it places stays.
    """
    best: Layout | None = None
    for order, choice in _ways(choices):
        layout = start.copy() if start else Layout(choices.grid)
        fill(choices, layout, order, choice)
        if best is None or layout.weights() > best.weights():
            best = layout
        if enough(best):
            break
    assert best is not None
    return best


def _ways(choices: Choices) -> Iterator[tuple[Order, Choice]]:
    if choices.limits.neighbours_in_line:
        yield in_line, fullest_first
        return
    yield _least_choice_first, fullest_first
    for choice in (fullest_first, like_itself):
        for order in (_oldest_first, _leanest_of_a_size, _leanest_first):
            yield order, choice
    yield _largest_first, fullest_first
    yield in_line, fullest_first


def fill(
    choices: Choices, layout: Layout, order: Order | None = None, choice: Choice | None = None
) -> None:
    """Start every further run that still fits, in line, each on the fullest hosts."""
    ledger = Ledger(choices, layout)
    most_free = int(layout.free.max(initial=0))
    for candidate in sorted(_candidates(choices), key=order or in_line):
        cohort = candidate.cohort
        for index in candidate.options:
            if choices.classes[index].ask.gpus > max(most_free, layout.grid.largest_offered):
                continue  # as most are, once a fleet is full
            waiting = choices.classes[index].cohorts[cohort].count - sum(
                layout.started[option][cohort] for option in candidate.options
            )
            most = ledger.more(index, cohort, waiting) if waiting else 0
            runs = start(layout, index, cohort, most, choice or fullest_first) if most else 0
            if runs:
                ledger.start(index, cohort, runs)
                most_free = int(layout.free.max(initial=0))


def complete(choices: Choices, layout: Layout, started: Sequence[Sequence[int]]) -> None:
    """Start the runs that are still missing of those that are to start, where they fit best."""
    for candidate in sorted(_candidates(choices), key=_largest_first):
        cohort = candidate.cohort
        for index in candidate.options:
            missing = started[index][cohort] - layout.started[index][cohort]
            if missing > 0:
                start(layout, index, cohort, missing, fullest_first)


def _candidates(choices: Choices) -> list[_Candidate]:
    grid, snapshot = choices.grid, choices.limits.snapshot
    gpus = max(1, int(grid.usable_gpus.sum()))
    cores, memory = (max(1, int(np.maximum(grid.room[each], 0).sum())) for each in (CORES, MEMORY))
    options_of: dict[str, list[int]] = {}
    for index, each in enumerate(choices.classes):
        if grid.fits[index]:
            options_of.setdefault(each.first, []).append(index)
    startable = [
        (queue_order(cohort.runs[0], snapshot), options, place)
        for options in options_of.values()
        for place, cohort in enumerate(choices.classes[options[0]].cohorts)
    ]
    found = []
    for position, (_, options, place) in enumerate(sorted(startable)):
        each, index = choices.classes[options[0]], options[0]
        asked = each.ask.millicores / cores + each.ask.memory_bytes / memory
        found.append(
            _Candidate(
                options,
                place,
                position,
                each.ask,
                len(grid.where[index]),
                each.cohorts[place].weight / each.ask.units,
                asked * gpus / max(1, each.ask.gpus),
            )
        )
    return found


def in_line(candidate: _Candidate) -> tuple[float, ...]:
    """By priority, submission and name."""
    return (candidate.position,)


def _oldest_first(candidate: _Candidate) -> tuple[float, ...]:
    ask = candidate.ask
    return (-ask.priority, -candidate.age, -ask.gpus, -ask.millicores)


def _leanest_of_a_size(candidate: _Candidate) -> tuple[float, ...]:
    ask = candidate.ask
    return (-ask.priority, -candidate.age, -ask.gpus, candidate.lean)


def _leanest_first(candidate: _Candidate) -> tuple[float, ...]:
    ask = candidate.ask
    return (-ask.priority, -candidate.age, candidate.lean, -ask.gpus)


def _least_choice_first(candidate: _Candidate) -> tuple[float, ...]:
    ask = candidate.ask
    return (-ask.priority, -candidate.age, -ask.gpus, candidate.hosts, -ask.millicores)


def _largest_first(candidate: _Candidate) -> tuple[float, ...]:
    ask = candidate.ask
    return (-ask.priority, -ask.gpus, candidate.lean, -candidate.age)


def fullest_first(layout: Layout, index: int, at: Ints | slice = ALL) -> Ints:
    """Hosts without GPUs at risk, then with the least left over; CPU work spares GPUs.

    A worker that is alone goes to NVLink domains last, to those with the least room. `at` are the
    positions to order, among the class's hosts.
    """
    hosts, gpus = layout.grid.where[index][at], layout.grid.classes[index].ask.gpus
    free, cores = layout.free[hosts], layout.room[CORES, hosts]
    best = _best_first(layout, index, at)
    ladder = layout.grid.eligibility.ladder
    if layout.grid.classes[index].ask.tasks == 1 and ladder.has_domains:
        best = (np.maximum(0, ladder.room_of_one[hosts]), *best)
    if gpus:
        return np.lexsort((cores, free, free % gpus, layout.sound[hosts] < gpus, *best))
    return np.lexsort((cores, free, layout.grid.devices[hosts] > 0, *best))


def _best_first(layout: Layout, index: int, at: Ints | slice) -> tuple[Ints, ...]:
    """Return the keys that sort hosts by what they are worth to a class, the last first."""
    each = layout.grid.appraisals[index]
    return () if each is None else (each.regret[at], each.tier[at])


def like_itself(layout: Layout, index: int, at: Ints | slice = ALL) -> Ints:
    """The fullest hosts first, of those the ones whose cores and memory for a GPU are as asked."""
    grid = layout.grid
    hosts, ask = grid.where[index][at], grid.classes[index].ask
    if not ask.gpus:
        return fullest_first(layout, index, at)
    free = layout.free[hosts]
    if grid.appraisals[index] is not None:
        return fullest_first(layout, index, at)
    unlike = np.zeros(len(hosts))
    for column, amount in ((CORES, ask.millicores), (MEMORY, ask.memory_bytes)):
        per_gpu = layout.room[column, hosts] / np.maximum(free, 1)
        unlike += np.abs(per_gpu - amount / ask.gpus) / max(1.0, grid.mean_per_gpu[column])
    return np.lexsort((unlike, free, layout.sound[hosts] < ask.gpus))


def start(layout: Layout, index: int, cohort: int, most: int, choice: Choice) -> int:
    """Start as many runs of a cohort as the hosts take, at most so many; return how many."""
    ask = layout.grid.classes[index].ask
    tasks, slots = ask.tasks or 0, layout.slots(index)
    if layout.grid.classes[index].deal is not None:
        return _start_dealt(layout, index, cohort) if most else 0
    if ask.spread in ("rack", "fabric") and tasks > 1:
        return _start_spread(layout, index, cohort, choice) if most else 0
    together = min(most, int(slots.sum()) // tasks)
    runs = _most_apart(slots, tasks, most) if ask.keeps_apart else together
    if not runs:
        return 0
    order = choice(layout, index)
    while runs:
        alone = ~layout.grid.offered[layout.grid.where[index][order]] & ask.keeps_apart
        room = np.minimum(slots[order], np.where(alone, runs, runs * tasks))
        taken = in_turn(runs * tasks, room)
        paid = layout.afforded(index, order, taken)
        if paid.sum() == taken.sum():
            break
        runs = min(runs - 1, int(paid.sum()) // tasks)
    if not runs:
        return 0
    used = taken > 0
    layout.put(index, order[used], taken[used])
    layout.started[index][cohort] += runs
    return runs


def _start_dealt(layout: Layout, index: int, cohort: int) -> int:
    """Start a run on the best hosts of its deal, if it fits; return how many."""
    grid, own = layout.grid, layout.grid.classes[index]
    deal, each, there = own.deal, grid.appraisals[index], layout.grid.where[index]
    assert deal is not None
    if each is None:
        return 0
    own_hosts = deal.only(np.isin(deal.hosts, there))
    most = np.minimum(own_hosts.most, layout.slots(index))
    caps = deal.caps
    if keys := grid.purses_of[index]:
        left = min(layout.left[key] for key in keys)
        caps = (*caps, Cap("purse", "cost", left))
    chosen = best_set(replace(own_hosts, most=most), each.regret, caps)
    if chosen is None:
        return 0
    used = np.nonzero(chosen)[0]
    layout.put(index, used, chosen[used])
    layout.started[index][cohort] += 1
    return 1


def _start_spread(layout: Layout, index: int, cohort: int, choice: Choice) -> int:
    """Start a run whose workers each are in another rack or fabric, if it fits; return how many."""
    ask, grid = layout.grid.classes[index].ask, layout.grid
    assert ask.spread is not None
    order = choice(layout, index)
    order = order[layout.slots(index)[order] > 0]
    units = grid.eligibility.ladder.units(ask.spread)[grid.where[index][order]]
    _, firsts = np.unique(units, return_index=True)
    at = order[np.sort(firsts)[: ask.tasks or 0]]
    one_each = np.ones(len(at), np.int64)
    if len(at) < (ask.tasks or 0) or (layout.afforded(index, at, one_each) < 1).any():
        return 0
    layout.put(index, at, one_each)
    layout.started[index][cohort] += 1
    return 1


def _most_apart(slots: Ints, tasks: int, most: int) -> int:
    """Return how many runs fit whose workers are never together: each host takes one of each."""
    low, high = 0, most
    while low < high:
        runs = (low + high + 1) // 2
        if int(np.minimum(slots, runs).sum()) >= runs * tasks:
            low = runs
        else:
            high = runs - 1
    return low
