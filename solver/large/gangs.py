"""Runs of several workers on a large fleet: which of them start, and where; then the rest.

What starts is settled for all runs together, cell by cell, as if machines of one site were all
joined alike (but for what a run's own rules say): that bounds what can be placed. Those runs of
several workers that start are then put on the tightest groups, in a few orders of which the best is
kept; all others are placed around them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from stowplan.model.decision import Stage
from stowplan.solver import climbing
from stowplan.solver.asks import Ask, RunClass
from stowplan.solver.chain import Chain, Tally
from stowplan.solver.decode import decoded
from stowplan.solver.eligibility import Eligibility
from stowplan.solver.greedy import fullest_first
from stowplan.solver.grid import Grid, Ints
from stowplan.solver.large.cellwise import Cellwise
from stowplan.solver.layout import Layout, in_turn
from stowplan.solver.limits import Limits
from stowplan.solver.options import Options, Way, has_options, rung_of


@dataclass(frozen=True)
class Gang:
    """A run of several workers that is to start."""

    each: RunClass
    cohort: int
    ways: Sequence[Way]
    """What is open to it, the best first."""


class Berth(NamedTuple):
    """Where a gang is to be: so many workers on each of some hosts."""

    gang: Gang
    way: Way
    hosts: Ints
    workers: Ints


type Order = Callable[[Gang], tuple[int, ...]]


def _largest_first(gang: Gang) -> tuple[int, ...]:
    ask = gang.each.ask
    return (-ask.priority, -ask.all_gpus, len(gang.ways))


def _least_choice_first(gang: Gang) -> tuple[int, ...]:
    ask = gang.each.ask
    return (-ask.priority, len(gang.ways), -ask.all_gpus)


def _smallest_first(gang: Gang) -> tuple[int, ...]:
    ask = gang.each.ask
    return (-ask.priority, ask.all_gpus, len(gang.ways))


ORDERS: Sequence[Order] = (_largest_first, _least_choice_first, _smallest_first)


type Alone = Callable[[Grid, Limits, Chain], Layout]
"""How runs of one worker are placed where no others are to be."""


@dataclass
class Gangwise:
    """The way from classes of runs to a layout, where some of them have several workers."""

    classes: Sequence[RunClass]
    options: Options
    limits: Limits
    chain: Chain
    alone: Alone

    def solved(self) -> Layout:
        """Return the layout after all stages."""
        began = time.monotonic()
        eligibility = self.options.eligibility
        wide = Grid(self.options.of(self.classes, widest=True), eligibility, eligibility.hosts)
        first = Cellwise(wide, self.limits, self.chain)
        first.settle_starts()
        counts = _started(first.layout)
        berths = berths_for(self.options, self._gangs(self.options, counts))
        after = Chain(
            self.chain.settings, self.chain.interrupt, self.chain.watcher, began=self.chain.began
        )
        spent = time.monotonic() - began
        layout = self._around(berths, after)
        layout = self._joined(layout, berths)
        self._tell(layout, first, after, spent)
        return layout

    def _gangs(self, options: Options, counts: Mapping[tuple[str, int], int]) -> list[Gang]:
        """Return the runs of several workers that start, so many of each class and cohort."""
        found: list[Gang] = []
        for each in self.classes:
            if not has_options(each):
                continue
            own = [counts.get((each.first, cohort), 0) for cohort in range(len(each.cohorts))]
            ways = options.ways(each) if any(own) else ()
            for cohort, count in enumerate(own):
                found += [Gang(each, cohort, ways)] * count
        return found

    def _around(self, berths: Sequence[Berth], chain: Chain) -> Layout:
        """Return the layout of these gangs, and of all other runs around them."""
        eligibility = self._without(self._laid(berths))
        settled: dict[int, int] = {}
        for berth in berths:
            key = id(berth.gang.each.cohorts[berth.gang.cohort])
            settled[key] = settled.get(key, 0) + 1
        limits = replace(self.limits, eligibility=eligibility, settled=settled)
        singles = Grid(self._singles, eligibility, eligibility.hosts)
        return self._laid(berths, self.alone(singles, limits, chain))

    @property
    def _singles(self) -> list[RunClass]:
        return [each for each in self.classes if not has_options(each)]

    def _laid(self, berths: Sequence[Berth], others: Layout | None = None) -> Layout:
        """Return a layout with these gangs, and the runs of one worker as in another."""
        numbers: dict[tuple[str, Ask, int | None], int] = {}
        classes: list[RunClass] = self._singles
        first = len(classes)
        for berth in berths:
            ask, group = berth.way
            key = (berth.gang.each.first, ask, id(group) if group else None)
            if key not in numbers:
                numbers[key] = len(classes)
                option = len(classes) - first
                classes.append(replace(berth.gang.each, ask=ask, group=group, option=option))
        eligibility = self.options.eligibility
        layout = Layout(Grid(classes, eligibility, eligibility.hosts))
        for berth in berths:
            ask, group = berth.way
            index = numbers[berth.gang.each.first, ask, id(group) if group else None]
            for host, workers in zip(berth.hosts.tolist(), berth.workers.tolist(), strict=True):
                layout.set(index, host, layout.there[host].get(index, 0) + workers)
            layout.started[index][berth.gang.cohort] += 1
        if others is not None:
            for host, there in enumerate(others.there):
                for index, workers in there.items():
                    layout.set(index, host, workers)
            layout.started[:first] = [list(counts) for counts in others.started]
            layout.references = [*others.references, *((),) * (len(classes) - first)]
        return layout

    def _without(self, layout: Layout) -> Eligibility:
        """Return the rules over the hosts with what a layout leaves free there."""
        eligibility = self.options.eligibility
        rooms = {host.name: host.start for host in eligibility.hosts}
        for start in decoded(layout).starts:
            ask = start.each.ask
            for seat in start.seats:
                rooms[seat.host.name] = seat.host.less(
                    rooms[seat.host.name], ask.millicores, ask.memory_bytes, frozenset(seat.devices)
                )
        hosts = [replace(host, start=rooms[host.name]) for host in eligibility.hosts]
        return Eligibility(eligibility.rules, hosts, eligibility.prices)

    def _joined(self, layout: Layout, berths: list[Berth]) -> Layout:
        """Start the gangs that wait and still fit, where no shared limit or line may forbid it."""
        if self.limits.quota_left or self.limits.neighbours_in_line:
            return layout
        started = _started(layout)
        waiting = {
            (each.first, number): cohort.count - started.get((each.first, number), 0)
            for each in self.classes
            if has_options(each)
            for number, cohort in enumerate(each.cohorts)
        }
        options = Options(self._without(layout))
        more = berths_for(options, self._gangs(options, waiting))
        if not more:
            return layout
        singles = self._laid([], None)
        singles.there = [
            {index: count for index, count in there.items() if index < len(self._singles)}
            for there in layout.there
        ]
        singles.started = layout.started[: len(self._singles)]
        singles.references = layout.references[: len(self._singles)]
        return self._laid([*berths, *more], singles)

    def _tell(self, layout: Layout, first: Cellwise, after: Chain, spent: float) -> None:
        """Give the account of the stages: of place with the bound that holds for all runs."""
        chain, counts = self.chain, _started(layout)
        started = [[0] * len(each.cohorts) for each in first.grid.classes]
        seen: set[str] = set()
        for index, each in enumerate(first.grid.classes):
            if each.first not in seen:
                seen.add(each.first)
                started[index] = [
                    counts.get((each.first, cohort), 0) for cohort in range(len(each.cohorts))
                ]
        tally = first.tally
        tally.objective = sum(layout.weights())
        tally.bound = max(tally.objective, sum(first.bounds.of(started)))
        tally.proven = tally.bound - tally.objective <= chain.settings.gap * tally.bound
        place, *rest = after.stages
        tally.since = time.monotonic() - spent - place.wall_s
        tally.deterministic += place.deterministic
        chain.stages.append(tally.stage())
        chain.logs += after.logs
        chain.cut = after.cut or chain.cut
        if not tally.proven:
            chain.cut = chain.cut or "deterministic_time"
        for stage in rest:
            if stage.name == "points":
                chain.stages += _climb(layout, self.options)
            chain.stages.append(stage)


def _climb(layout: Layout, options: Options) -> Iterator[Stage]:
    """Yield the account of the rungs, the machines and the room left, with what each gang could
    have at best alone as the bound."""
    least = [0, 0]
    for each, counts in zip(layout.grid.classes, layout.started, strict=True):
        runs = sum(counts)
        if each.option is not None and runs:
            ways = options.ways(each)
            least[0] += runs * min((rung_of(group) - 1 for _, group in ways), default=0)
            least[1] += runs * min(((ask.tasks or 1) - 1 for ask, _ in ways), default=0)
    names = ("rung", "machines", "room")
    for name, value, bound in zip(names, climbing.of_layout(layout), (*least, 0), strict=True):
        tally = Tally(name, value, min(value, bound))
        tally.proven = value == bound
        yield tally.stage()


def _started(layout: Layout) -> dict[tuple[str, int], int]:
    """Return how many runs start, by the first of their class and the number of their cohort."""
    found: dict[tuple[str, int], int] = {}
    for each, counts in zip(layout.grid.classes, layout.started, strict=True):
        for cohort, count in enumerate(counts):
            found[each.first, cohort] = found.get((each.first, cohort), 0) + count
    return found


def berths_for(options: Options, gangs: Sequence[Gang]) -> list[Berth]:
    """Return where gangs go, each on the tightest group that has room when its turn comes.

    In the order of which the most start, on the tightest rungs, on the fewest machines.
    """
    if not gangs:
        return []
    classes = list({gang.each.first: gang.each for gang in gangs}.values())
    eligibility = options.eligibility
    grid = Grid(options.of(classes, widest=True), eligibility, eligibility.hosts)
    found = [_Climb(grid).all(sorted(gangs, key=order)) for order in ORDERS]
    return min(found, key=_standing)


def _standing(berths: Sequence[Berth]) -> tuple[object, ...]:
    tiers: dict[int, int] = {}
    rung = machines = room = 0
    for gang, (ask, group), _, _ in berths:
        weight = gang.each.cohorts[gang.cohort].weight
        tiers[ask.priority] = tiers.get(ask.priority, 0) - weight
        rung += rung_of(group) - 1
        machines += (ask.tasks or 1) - 1
        room += group.free - ask.all_gpus if group else 0
    return ([tiers[tier] for tier in sorted(tiers, reverse=True)], rung, machines, room)


class _Climb:
    """Hosts as gangs fill them, one after the other."""

    def __init__(self, grid: Grid) -> None:
        self._layout = Layout(grid)
        self._options: dict[tuple[str, Ask], list[int]] = {}
        for index, each in enumerate(grid.classes):
            self._options.setdefault((each.first, each.ask), []).append(index)

    def all(self, gangs: Sequence[Gang]) -> list[Berth]:
        """Return where those of the gangs go that fit when their turn comes."""
        return [berth for gang in gangs for berth in (self._one(gang),) if berth is not None]

    def _one(self, gang: Gang) -> Berth | None:
        slots_of: dict[Ask, Ints] = {}
        ladder = self._layout.grid.eligibility.ladder
        for ask, group in gang.ways:
            if ask not in slots_of:
                slots_of[ask] = self._slots(gang, ask)
            slots = slots_of[ask]
            if group is None:
                fit = int((slots > 0).any())
            else:
                fit = ladder.workers(ask, group.hosts, slots[group.hosts])
            if fit >= (ask.tasks or 0) and (berth := self._put(gang, (ask, group), slots)):
                return berth
        return None

    def _slots(self, gang: Gang, ask: Ask) -> Ints:
        """Return by host how many workers of this shape it could take."""
        grid = self._layout.grid
        slots = np.zeros(len(grid.hosts), np.int64)
        for index in self._options.get((gang.each.first, ask), ()):
            there = grid.where[index]
            slots[there] = np.maximum(slots[there], self._layout.slots(index))
        return slots

    def _put(self, gang: Gang, way: Way, slots: Ints) -> Berth | None:
        """Put a gang on those hosts of a group that it fills best."""
        layout, grid, (ask, group) = self._layout, self._layout.grid, way
        hosts = np.nonzero(slots)[0] if group is None else group.hosts[slots[group.hosts] > 0]
        for index in self._options[gang.each.first, ask]:
            at = grid.positions(index, hosts)
            if len(at) < len(hosts):
                continue
            at = at[fullest_first(layout, index, at)]
            chosen = grid.where[index][at]
            if ask.spread in ("rack", "fabric"):
                units = grid.eligibility.ladder.units(ask.spread)[chosen]
                chosen = chosen[np.sort(np.unique(units, return_index=True)[1])]
            tasks = ask.tasks or 0
            most = np.minimum(slots[chosen], tasks if ask.may_share else 1)
            workers = in_turn(tasks, most)
            used = workers > 0
            chosen, workers = chosen[used], workers[used]
            at = grid.positions(index, np.sort(chosen))
            by_place = workers[np.argsort(chosen)]
            if (layout.afforded(index, at, by_place) < by_place).any():
                return None
            layout.put(index, at, by_place)
            layout.started[index][gang.cohort] += 1
            return Berth(gang, way, np.sort(chosen), by_place)
        return None
