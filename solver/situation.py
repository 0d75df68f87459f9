"""The cycle once it is decided: who starts where, and what that leaves on each host."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from stowplan.model.room import Room
from stowplan.model.snapshot import Snapshot
from stowplan.solver.asks import Ask, RunClass
from stowplan.solver.decode import Plan, Seat, Start
from stowplan.solver.eligibility import Eligibility
from stowplan.solver.hosts import Host
from stowplan.solver.limits import Limits


@dataclass(frozen=True)
class Situation:
    """What explanations read."""

    snapshot: Snapshot
    eligibility: Eligibility
    hosts: Sequence[Host]
    classes: Sequence[RunClass]
    limits: Limits
    plan: Plan
    proven: bool
    """Whether the stage `place` is proven within the gap asked."""

    @cached_property
    def left(self) -> Mapping[str, Room]:
        """What is free on each host when all that starts has started."""
        return self._left_after(self.plan.starts)

    @cached_property
    def started(self) -> Mapping[str, int]:
        """How many runs of each class start, by the class's name."""
        counts: dict[str, int] = {each.name: 0 for each in self.classes}
        for start in self.plan.starts:
            counts[start.each.name] += 1
        return counts

    @cached_property
    def on_host(self) -> Mapping[str, list[tuple[Start, Seat]]]:
        """What starts on each host."""
        there: dict[str, list[tuple[Start, Seat]]] = {host.name: [] for host in self.hosts}
        for start in self.plan.starts:
            for seat in start.seats:
                there[seat.host.name].append((start, seat))
        return there

    def room_left(self, host: Host) -> Room:
        """What is free on a host when all that starts has started."""
        return self.left[host.name]

    def room_beside_own(self, each: RunClass) -> Mapping[str, Room]:
        """What is free at the start; for an array, less what its own elements take."""
        return self._left_after(
            start for start in self.plan.starts if each.ask.array and start.each is each
        )

    def left_without(self, runs: Collection[str]) -> Mapping[str, Room]:
        """What would be free if these runs hadn't started."""
        return self._left_after(start for start in self.plan.starts if start.run not in runs)

    def _left_after(self, starts: Iterable[Start]) -> dict[str, Room]:
        rooms = {host.name: host.start for host in self.hosts}
        for start in starts:
            ask = start.each.ask
            for seat in start.seats:
                rooms[seat.host.name] = rooms[seat.host.name].less(
                    ask.millicores, ask.memory_bytes, frozenset(seat.devices)
                )
        return rooms

    def gpus_placed(self, workspace: str) -> int:
        """How many GPUs of a workspace's runs start."""
        return sum(
            self.started[each.name] * each.ask.all_gpus
            for each in self.classes
            if each.ask.workspace == workspace
        )

    def has_started(self, run: str) -> bool:
        """Whether a run, or an element of an array, starts in this cycle."""
        return run in self._starting

    @cached_property
    def _starting(self) -> frozenset[str]:
        return frozenset(start.run for start in self.plan.starts)


def given_back(room: Room, ask: Ask, seat: Seat) -> Room:
    """Return the room with what a worker takes given back."""
    return Room(
        room.millicores + ask.millicores,
        room.memory_bytes + ask.memory_bytes,
        room.devices | frozenset(seat.devices),
    )
