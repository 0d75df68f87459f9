"""Runs take turns on the hosts: each goes where it fits best when its turn comes.

A run of several workers goes to the tightest group that has room for all of it, there to the hosts
that it fills best; a run of one worker to the host that it fills best.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stowplan.solver.asks import Ask, RunClass, queue_order
from stowplan.solver.choices import Choices
from stowplan.solver.greedy import fullest_first, start
from stowplan.solver.grid import Ints
from stowplan.solver.ladder import Group, Ladder
from stowplan.solver.layout import Layout, in_turn
from stowplan.solver.ledger import Ledger
from stowplan.solver.options import Options, Way, has_options, rung_of

type Bools = npt.NDArray[np.bool_]
type Option = tuple[str, Ask, int | None]
type Standing = tuple[tuple[int, ...], int, int, int]


@dataclass(frozen=True, eq=False)
class Reach:
    """The groups that are open to runs in one shape."""

    ask: Ask
    groups: Sequence[Group | None]
    ways: Ints
    """Their places among all ways."""
    hosts: Ints
    """The hosts of one group after the other."""
    begins: Ints
    """Where each group begins in them."""

    @classmethod
    def of(cls, ask: Ask, groups: Sequence[Group | None], ways: Sequence[int]) -> Reach:
        """Return it for groups that aren't empty."""
        members = [each.hosts for each in groups if each is not None]
        sizes = [len(hosts) for hosts in members]
        return cls(
            ask,
            groups,
            np.array(ways, np.int64),
            np.concatenate([np.zeros(0, np.int64), *members]),
            np.cumsum([0, *sizes[:-1]], dtype=np.int64),
        )

    def fitting(self, slots: Ints, ladder: Ladder) -> Bools:
        """Return in which groups a whole run fits, if each host takes so many workers."""
        ask = self.ask
        if ask.tasks == 1:
            return np.array([(slots > 0).any()])
        if ask.spread in ("rack", "fabric"):
            fit = [ladder.workers(ask, g.hosts, slots[g.hosts]) for g in self.groups if g]
            return np.array(fit, np.int64) >= (ask.tasks or 0)
        each = np.minimum(slots[self.hosts], (ask.tasks or 0) if ask.may_share else 1)
        whole: Bools = np.add.reduceat(each, self.begins) >= (ask.tasks or 0)
        return whole


@dataclass(frozen=True, eq=False)
class Turn:
    """Runs of a class that weigh the same."""

    each: RunClass
    cohort: int
    ways: Sequence[Way]
    """What is open to them, the best first; of runs of one worker nothing is listed."""
    options: Mapping[Ask, Sequence[int]]
    """The places of their options in the grid, by shape; of a run of one worker, its own."""

    @cached_property
    def reaches(self) -> Sequence[Reach]:
        """What is open in each shape."""
        ways_of: dict[Ask, list[int]] = {}
        for number, (ask, _) in enumerate(self.ways):
            ways_of.setdefault(ask, []).append(number)
        return [
            Reach.of(ask, [self.ways[number][1] for number in numbers], numbers)
            for ask, numbers in ways_of.items()
        ]

    @property
    def key(self) -> tuple[str, int]:
        """What tells it from other turns."""
        return (self.each.first, self.cohort)

    @property
    def count(self) -> int:
        """How many runs there are."""
        return self.each.cohorts[self.cohort].count

    @property
    def index(self) -> int:
        """The place in the grid of the class of runs of one worker."""
        return self.options[self.each.ask][0]


class Berth(NamedTuple):
    """Where a run of several workers is: so many of them on each of some hosts."""

    turn: Turn
    ask: Ask
    group: Group | None
    hosts: Ints
    """Ascending."""
    workers: Ints

    @property
    def steps(self) -> int:
        """How many rungs it is below a single machine."""
        return rung_of(self.group) - 1

    @property
    def option(self) -> Option:
        """What tells the option that it is in from others."""
        return option_of(self.turn.each, self.ask, self.group)

    def seat(self, layout: Layout, index: int) -> None:
        """Start it in another layout, in the option at this place of its grid."""
        for host, workers in zip(self.hosts.tolist(), self.workers.tolist(), strict=True):
            layout.set(index, host, layout.there[host].get(index, 0) + workers)
        layout.started[index][self.turn.cohort] += 1


def option_of(each: RunClass, ask: Ask, group: Group | None) -> Option:
    """Return what tells an option from others: whose it is, its shape and its group."""
    return (each.first, ask, None if group is None else id(group))


@dataclass
class Built:
    """A layout, where its runs of several workers are in it, and which runs found no room."""

    layout: Layout
    berths: list[Berth] = field(default_factory=list)
    missing: dict[tuple[str, int], int] = field(default_factory=dict)
    """How many, by the key of their turn."""

    def seat_singles(self, layout: Layout) -> None:
        """Start all runs that have one worker in another layout too, over a grid of its own."""
        place_of = {each.name: place for place, each in enumerate(layout.grid.classes)}
        own = {
            index: place_of[each.name]
            for index, each in enumerate(self.layout.grid.classes)
            if each.option is None
        }
        for host, there in enumerate(self.layout.there):
            for index, workers in there.items():
                if index in own:
                    layout.set(own[index], host, workers)
        for index, place in own.items():
            layout.started[place] = list(self.layout.started[index])

    def standing(self) -> Standing:
        """Return what makes one better than another: weights, then low rungs, few machines, little
        room left in the groups."""
        rung = machines = room = 0
        for berth in self.berths:
            rung += berth.steps
            machines += (berth.ask.tasks or 1) - 1
            room += berth.group.left(berth.ask.all_gpus) if berth.group else 0
        return (self.layout.weights(), -rung, -machines, -room)


class Turns:
    """Every run's turn, over a grid whose options are as wide as whole sites."""

    def __init__(self, classes: Sequence[RunClass], options: Options, choices: Choices) -> None:
        """Look up what is open to each class."""
        self._choices, self._ladder = choices, options.ladder
        snapshot = choices.limits.snapshot
        indices: dict[str, dict[Ask, list[int]]] = {}
        for index, own in enumerate(choices.classes):
            if choices.grid.fits[index]:
                indices.setdefault(own.first, {}).setdefault(own.ask, []).append(index)
        found = []
        for each in classes:
            if each.first in indices:
                ways = options.ways(each) if has_options(each) else ()
                found += [
                    (
                        queue_order(own.runs[0], snapshot),
                        Turn(each, number, ways, indices[each.first]),
                    )
                    for number, own in enumerate(each.cohorts)
                ]
        self.in_line: Sequence[Turn] = [turn for _, turn in sorted(found, key=lambda pair: pair[0])]
        """The first in line first."""
        self._least = {
            turn: (
                min((rung_of(group) for _, group in turn.ways), default=0),
                min((ask.tasks or 1 for ask, _ in turn.ways), default=1),
            )
            for turn in self.in_line
        }

    @property
    def hosts(self) -> int:
        """How many hosts there are that any run could be on."""
        return len(self._choices.grid.used)

    def hosts_of(self, turn: Turn) -> int:
        """Return on how many hosts a turn's runs could be."""
        where = self._choices.grid.where
        return max(len(where[index]) for own in turn.options.values() for index in own)

    def lost(self, berth: Berth) -> float:
        """Return by how much a run is worse off than it could be alone: in rungs, and in how often
        its machines are twice as many."""
        rung, tasks = self._least[berth.turn]
        return rung_of(berth.group) - rung + math.log2((berth.ask.tasks or 1) / tasks)

    def nothing(self) -> Built:
        """Return what there is where nothing starts."""
        return Built(Layout(self._choices.grid))

    def built(
        self,
        order: Iterable[Turn],
        counts: Mapping[tuple[str, int], int],
        shapes: Mapping[tuple[str, int], Sequence[Ask]] | None = None,
    ) -> Built:
        """Return what comes of it when so many runs of each turn start in this order, if they fit.

        `shapes` are those that runs of several workers take if they can.
        """
        built = self.nothing()
        for turn in order:
            count = counts.get(turn.key, 0)
            if count:
                started = self._start(built, turn, count, (shapes or {}).get(turn.key, ()))
                if started < count:
                    built.missing[turn.key] = count - started
        return built

    def fill(self, built: Built) -> None:
        """Start every further run that fits, in line, as far as limits that runs share allow."""
        layout, ledger = built.layout, Ledger(self._choices, built.layout)
        for turn in self.in_line:
            largest = max(int(layout.free.max(initial=0)), layout.grid.largest_offered)
            if min(ask.gpus for ask in turn.options) > largest:
                continue
            own = [index for indices in turn.options.values() for index in indices]
            waiting = turn.count - sum(layout.started[index][turn.cohort] for index in own)
            most = max((ledger.more(index, turn.cohort, waiting) for index in own), default=0)
            before = [layout.started[index][turn.cohort] for index in own]
            if most > 0 and self._start(built, turn, most):
                for index, was in zip(own, before, strict=True):
                    ledger.start(index, turn.cohort, layout.started[index][turn.cohort] - was)

    def _start(self, built: Built, turn: Turn, count: int, shapes: Sequence[Ask] = ()) -> int:
        """Start up to so many runs; return how many."""
        if not turn.ways:
            return start(built.layout, turn.index, turn.cohort, count, fullest_first)
        for number in range(count):
            wanted = shapes[number] if number < len(shapes) else None
            berth = self._berth(built.layout, turn, wanted) or (
                self._berth(built.layout, turn, None) if wanted else None
            )
            if berth is None:
                return number
            built.berths.append(berth)
        return count

    def _berth(self, layout: Layout, turn: Turn, shape: Ask | None) -> Berth | None:
        """Put a run on the best of its ways that has room, in a shape if one is given."""
        slots_of: dict[Ask, Ints] = {}
        fitting = np.zeros(len(turn.ways), np.bool_)
        for reach in turn.reaches:
            if reach.ask in turn.options and shape in (None, reach.ask):
                slots_of[reach.ask] = self._slots(layout, turn, reach.ask)
                fitting[reach.ways] = reach.fitting(slots_of[reach.ask], self._ladder)
        for number in np.nonzero(fitting)[0].tolist():
            ask, _ = way = turn.ways[number]
            if berth := self._put(layout, turn, way, slots_of[ask]):
                return berth
        return None

    def _slots(self, layout: Layout, turn: Turn, ask: Ask) -> Ints:
        """Return by host how many workers of this shape it could take."""
        grid = layout.grid
        slots = np.zeros(len(grid.hosts), np.int64)
        for index in turn.options[ask]:
            there = grid.where[index]
            slots[there] = np.maximum(slots[there], layout.slots(index))
        return slots

    def _put(self, layout: Layout, turn: Turn, way: Way, slots: Ints) -> Berth | None:
        """Put a run on those hosts of a group that it fills best."""
        grid, (ask, group) = layout.grid, way
        hosts = np.nonzero(slots)[0] if group is None else group.hosts[slots[group.hosts] > 0]
        for index in turn.options[ask]:
            at = grid.positions(index, hosts)
            if len(at) < len(hosts):
                continue
            at = at[fullest_first(layout, index, at)]
            chosen = grid.where[index][at]
            if ask.spread in ("rack", "fabric"):
                units = self._ladder.units(ask.spread)[chosen]
                chosen = chosen[np.sort(np.unique(units, return_index=True)[1])]
            tasks = ask.tasks or 0
            workers = in_turn(tasks, np.minimum(slots[chosen], tasks if ask.may_share else 1))
            chosen, workers = chosen[workers > 0], workers[workers > 0]
            by_place = workers[np.argsort(chosen)]
            at = grid.positions(index, np.sort(chosen))
            if (layout.afforded(index, at, by_place) < by_place).any():
                return None
            layout.put(index, at, by_place)
            layout.started[index][turn.cohort] += 1
            return Berth(turn, ask, group, np.sort(chosen), by_place)
        return None
