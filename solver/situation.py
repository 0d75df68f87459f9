"""The cycle once it is decided: who starts where, and what that leaves on each host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from stowplan.model.decision import HostKind
from stowplan.model.room import Room
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from stowplan.solver.asks import Ask, Cohort, RunClass
from stowplan.solver.decode import Plan, Seat, Start
from stowplan.solver.eligibility import Eligibility
from stowplan.solver.grid import Grid
from stowplan.solver.hosts import Host
from stowplan.solver.limits import Limits
from stowplan.solver.rooms import Ints, Rooms


@dataclass(frozen=True)
class Situation:
    """What explanations read."""

    snapshot: Snapshot
    limits: Limits
    classes: Sequence[RunClass]
    """The classes of runs that ask for a place."""
    grid: Grid
    """What each class, or option, asks of each host, and what hosts are worth to it."""
    plan: Plan
    proven: bool
    """Whether the stage `place` is proven within the gap asked."""

    @property
    def eligibility(self) -> Eligibility:
        """The rules over the hosts."""
        return self.grid.eligibility

    @property
    def hosts(self) -> Sequence[Host]:
        """Every host."""
        return self.grid.hosts

    @cached_property
    def place_of(self) -> Mapping[str, int]:
        """Each host's place among all, by its name."""
        return {host.name: place for place, host in enumerate(self.hosts)}

    @cached_property
    def index_of(self) -> Mapping[str, int]:
        """The place in the grid of each class, or option, by its name."""
        return {each.name: index for index, each in enumerate(self.grid.classes)}

    @cached_property
    def names(self) -> npt.NDArray[np.object_]:
        """The hosts' names."""
        return np.array([host.name for host in self.hosts], np.object_)

    @cached_property
    def states(self) -> Ints:
        """The kind of each host and the state that it is in, as its place in `kinds`."""
        number = {kind: place for place, kind in enumerate(self.kinds)}
        kinds = ((host.kind, host.machine.state) for host in self.hosts)
        return np.array([number[kind] for kind in kinds], np.int64)

    @cached_property
    def kinds(self) -> Sequence[tuple[HostKind, str]]:
        """The kinds of host that there are, each with a state in which some are."""
        return sorted({(host.kind, host.machine.state) for host in self.hosts})

    @cached_property
    def counted(self) -> npt.NDArray[np.bool_]:
        """Which hosts are counted: warm instances are with those of their offering."""
        return np.array([not host.is_warm for host in self.hosts], np.bool_)

    @property
    def word(self) -> str:
        """What hosts are called, as many as there are."""
        return "hosts" if self.snapshot.fleet.offerings else "machines"

    @cached_property
    def left(self) -> Mapping[str, Room]:
        """What is free on each host when all that starts has started."""
        return self._left_after(self.plan.starts)

    @cached_property
    def rooms_left(self) -> Rooms:
        """The hosts when all that starts has started."""
        return Rooms(self.eligibility, self.hosts, self.left, self.plan.left)

    @cached_property
    def rooms_unspent(self) -> Rooms:
        """The hosts when all that starts has started, had nothing of it cost anything."""
        return Rooms(self.eligibility, self.hosts, self.left)

    @cached_property
    def rooms_at_start(self) -> Rooms:
        """The hosts at the start of the cycle."""
        return Rooms(self.eligibility, self.hosts, {host.name: host.start for host in self.hosts})

    @cached_property
    def rooms_empty(self) -> Rooms:
        """The hosts with nothing on them."""
        return Rooms(self.eligibility, self.hosts, {host.name: host.empty for host in self.hosts})

    def rooms_beside_own(self, each: RunClass) -> Rooms:
        """The hosts at the start; for an array, less what its own elements take."""
        own = self.starts_of(each) if each.ask.array else ()
        return (
            Rooms(
                self.eligibility, self.hosts, self._left_after(own)
            )  # the purses: as at the start
            if own
            else (self.rooms_at_start)
        )

    @cached_property
    def started(self) -> Mapping[str, int]:
        """How many runs of each class start, by the class's name."""
        return {each.name: len(self.starts_of(each)) for each in self.classes}

    def starts_of(self, each: RunClass) -> Sequence[Start]:
        """What starts of a class, or of one option, in the plan's order."""
        return self._by_class.get(each.name, ())

    @cached_property
    def _by_class(self) -> Mapping[str, list[Start]]:
        found: dict[str, list[Start]] = {}
        for start in self.plan.starts:
            for name in {start.each.first, start.each.name}:
                found.setdefault(name, []).append(start)
        return found

    def starts_of_run(self, run: str) -> Sequence[Start]:
        """What starts of a run: itself, or some elements of an array."""
        return self._by_run.get(run, ())

    @cached_property
    def _by_run(self) -> Mapping[str, list[Start]]:
        found: dict[str, list[Start]] = {}
        for start in self.plan.starts:
            found.setdefault(start.run, []).append(start)
        return found

    @cached_property
    def on_host(self) -> Mapping[str, list[tuple[Start, Seat]]]:
        """What starts on each host."""
        there: dict[str, list[tuple[Start, Seat]]] = {host.name: [] for host in self.hosts}
        for start in self.plan.starts:
            for seat in start.seats:
                there[seat.host.name].append((start, seat))
        return there

    @cached_property
    def largest_there(self) -> Ints:
        """By host: the most cores, memory and GPUs that a run which starts there takes of it."""
        taken: dict[tuple[int, str], list[int]] = {}
        for start in self.plan.starts:
            ask = start.each.ask
            for seat in start.seats:
                own = taken.setdefault((self.place_of[seat.host.name], start.run), [0, 0, 0])
                for column, amount in enumerate((ask.millicores, ask.memory_bytes, ask.gpus)):
                    own[column] += amount
        largest = np.zeros((3, len(self.hosts)), np.int64)
        if taken:
            places = [place for place, _ in taken]
            np.maximum.at(largest.T, places, list(taken.values()))
        return largest

    def listed(self, ask: Ask) -> Ints:
        """Return the places of the hosts that count for a run."""
        if ask.pools is None:
            return np.arange(len(self.hosts))
        listed = self.eligibility.listed(ask)
        return np.array([self.place_of[host.name] for host in listed], np.int64)

    def room_left(self, host: Host) -> Room:
        """What is free on a host when all that starts has started."""
        return self.left[host.name]

    def _left_after(self, starts: Iterable[Start]) -> dict[str, Room]:
        rooms = {host.name: host.start for host in self.hosts}
        for start in starts:
            ask = start.each.ask
            for seat in start.seats:
                rooms[seat.host.name] = seat.host.less(
                    rooms[seat.host.name],
                    ask.millicores,
                    ask.memory_bytes,
                    frozenset(seat.devices),
                )
        return rooms

    @cached_property
    def first_in_line(self) -> Mapping[str, Run]:
        """By workspace: the run of its strict queue that holds up those behind it, where one does.

        The first that waits: whoever is behind it waits too.
        """
        return {
            workspace: first
            for workspace, line in self.limits.lines.items()
            for first in (self._first_waiting(line),)
            if first is not None
        }

    def _first_waiting(self, line: Iterable[Cohort]) -> Run | None:
        waiting = (
            cohort.runs[0]
            for cohort in line
            if self.limits.holds_up(cohort) and not self.has_started(cohort.runs[0].name)
        )
        return next(waiting, None)

    def gpus_placed(self, workspace: str) -> int:
        """How many GPUs of a workspace's runs start."""
        return sum(
            self.started[each.name] * each.ask.all_gpus
            for each in self.classes
            if each.ask.workspace == workspace
        )

    def has_started(self, run: str) -> bool:
        """Whether a run, or an element of an array, starts in this cycle."""
        return run in self._by_run


def given_back(room: Room, ask: Ask, seat: Seat) -> Room:
    """Return the room with what a worker takes given back."""
    gpus = frozenset(seat.devices)
    return seat.host.more(room, ask.millicores, ask.memory_bytes, gpus)
