"""Outcompeted: which runs of this cycle took the room of one that would fit alone."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask, RunClass
from stowplan.solver.explain.groups import Groups
from stowplan.solver.hosts import Host
from stowplan.solver.ladder import Group
from stowplan.solver.matching import usable
from stowplan.solver.rooms import Ints
from stowplan.solver.situation import Situation, given_back

NAMED = 3
"""How many runs a sentence names before it says how many more there are."""


def outcompeted(situation: Situation, each: RunClass, groups: Groups) -> Reason | None:
    """It fits alone: the room went to runs placed in this cycle, or nothing is proven."""
    place = groups.place(situation.rooms_beside_own(each))
    if place is None:
        return None
    ask, group = place
    rivals = _Rivals(situation, ask, group).found()
    alike = 0 if each.ask.array else len(each.runs) - situation.started[each.name]
    room = "the room for one such run" if alike > 1 else "the room"  # others took that of the rest
    if not situation.proven or not rivals:
        took = f"; {room} went to {_named(rivals)}" if rivals else ""
        message = f"fits alone{took}; not proven in the time given that it must wait"
        return Reason.of(Code.SOLVER_LIMIT, message, runs=tuple(rivals))
    return Reason.of(
        Code.OUTCOMPETED,
        f"fits alone; {room} went to {_named(rivals)}",
        runs=tuple(rivals),
    )


class _Way(NamedTuple):
    """Runs without which a host would take as many workers as it could at the start."""

    runs: tuple[str, ...]
    place: int
    """The host's."""
    room: Room
    """What is free there without them."""


@dataclass(frozen=True)
class _Rivals:
    """A search for a smallest set of runs placed in this cycle without which one would fit."""

    situation: Situation
    ask: Ask
    group: Group | None = None
    """Of a run of several workers: the machines that all of them are to be on."""

    @cached_property
    def _now(self) -> Ints:
        """How many of its workers each host could take."""
        return self._inside(self.situation.rooms_left.workers(self.ask))

    def _inside(self, workers: Ints) -> Ints:
        """Return the same of the hosts of the group, and 0 of others."""
        if self.group is None:
            return workers
        inside = np.zeros_like(workers)
        inside[self.group.hosts] = workers[self.group.hosts]
        return inside

    def found(self) -> list[str]:
        """Return the set found; hosts are freed one by one, first where the fewest runs must go."""
        if self.ask.spread in ("rack", "fabric") and self.group is not None:
            return self._spread_out(self.group)
        missing = (self.ask.tasks or 0) - int(self._now.sum())
        rivals: dict[str, None] = {}
        for way in self._ways():
            rivals.update(dict.fromkeys(way.runs))
            missing -= self._workers(way.place, way.room) - int(self._now[way.place])
            if missing <= 0:
                return self._needed(list(rivals))
        return []

    def _ways(self) -> Iterator[_Way]:
        """Yield how each host could be freed: by the number of runs that must go, then by name.

        A host is looked at only once those are told of which fewer runs must surely go.
        """
        at_start = self._inside(self.situation.rooms_at_start.workers(self.ask))
        want = np.minimum(self.ask.tasks or 0, at_start)
        least = self._fewest(want)
        places = np.nonzero(self._now < want)[0]
        ready: list[tuple[int, int, _Way]] = []
        for place in places[np.lexsort((places, least[places]))].tolist():
            while ready and ready[0][:2] < (int(least[place]), place):
                yield heapq.heappop(ready)[2]
            way = self._displaced(place, int(want[place]))
            heapq.heappush(ready, (len(way.runs), place, way))
        while ready:
            yield heapq.heappop(ready)[2]

    def _fewest(self, want: Ints) -> Ints:
        """Return a bound by host: at least so many runs must go for so many workers to fit."""
        situation, ask = self.situation, self.ask
        rooms, largest = situation.rooms_left, situation.largest_there
        gpus = rooms.count(ask, lambda has: usable(ask, has))
        short = np.stack(
            (
                want * ask.millicores - rooms.cores,
                want * ask.memory_bytes - rooms.memory,
                want * ask.gpus - gpus,
            )
        )
        return np.max(np.maximum(0, -(-short // np.maximum(1, largest))), axis=0)

    def _displaced(self, place: int, want: int) -> _Way:
        host = self.situation.hosts[place]
        room = self.situation.room_left(host)
        gone: dict[str, None] = {}
        there = sorted(
            self.situation.on_host[host.name],
            key=lambda pair: (-pair[0].each.ask.gpus, -pair[0].each.ask.millicores, pair[0].run),
        )
        for start, seat in there:
            if self.situation.eligibility.slots(self.ask, host, room) >= want:
                break
            if self.ask.array and start.run == self.ask.array:
                continue
            room = given_back(room, start.each.ask, seat)
            gone[start.run] = None
        return _Way(tuple(gone), place, room)

    def _needed(self, rivals: Sequence[str]) -> list[str]:
        """Return those of the rivals that must all go: with any of them there it doesn't fit."""
        needed = dict.fromkeys(rivals)
        workers = {place: self._without(place, needed) for place in self._places_of(rivals)}
        missing = (self.ask.tasks or 0) - int(self._now.sum())
        missing -= sum(count - int(self._now[place]) for place, count in workers.items())
        for run in rivals:
            fewer = {other: None for other in needed if other != run}
            changed = {place: self._without(place, fewer) for place in self._places_of([run])}
            lost = sum(workers[place] - count for place, count in changed.items())
            if missing + lost <= 0:
                needed, missing = fewer, missing + lost
                workers |= changed
        return list(needed)

    def _spread_out(self, group: Group) -> list[str]:
        """Return the set for a run whose workers each want a rack, say, of their own: of all the
        runs in the group those that can't stay, tried one after the other."""
        names = [self.situation.hosts[place].name for place in group.hosts.tolist()]
        needed = {start.run: None for name in names for start, _ in self.situation.on_host[name]}
        ladder = self.situation.eligibility.ladder

        def fits(gone: dict[str, None]) -> bool:
            slots = [self._without(place, gone) for place in group.hosts.tolist()]
            found = ladder.workers(self.ask, group.hosts, np.array(slots, np.int64))
            return found >= (self.ask.tasks or 0)

        if not fits(needed):
            return []
        for run in list(needed):
            fewer = {other: None for other in needed if other != run}
            if fits(fewer):
                needed = fewer
        return list(needed)

    def _places_of(self, runs: Iterable[str]) -> set[int]:
        situation = self.situation
        return {
            situation.place_of[seat.host.name]
            for run in runs
            for start in situation.starts_of_run(run)
            for seat in start.seats
            if self.group is None or seat.host.place in self.group.hosts
        }

    def _without(self, place: int, gone: dict[str, None]) -> int:
        """Return how many workers a host could take if these runs hadn't started."""
        host = self.situation.hosts[place]
        room = self.situation.room_left(host)
        for start, seat in self.situation.on_host[host.name]:
            if start.run in gone:
                room = given_back(room, start.each.ask, seat)
        return self._workers(place, room)

    def _workers(self, place: int, room: Room) -> int:
        host: Host = self.situation.hosts[place]
        most = (self.ask.tasks or 0) if self.ask.may_share or host.offering else 1
        return min(most, self.situation.eligibility.slots(self.ask, host, room))


def _named(runs: Sequence[str]) -> str:
    shown = ", ".join(runs[:NAMED])
    return f"{shown} and {len(runs) - NAMED:,} more" if len(runs) > NAMED else shown
