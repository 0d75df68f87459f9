"""Outcompeted: which runs of this cycle took the room of one that would fit alone."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask, RunClass
from stowplan.solver.hosts import Host
from stowplan.solver.situation import Situation, given_back

NAMED = 3
"""How many runs a sentence names before it says how many more there are."""


def outcompeted(situation: Situation, each: RunClass) -> Reason | None:
    """It fits alone: the room went to runs placed in this cycle, or nothing is proven."""
    own = situation.room_beside_own(each)
    if not situation.eligibility.fits(each.ask, lambda host: own[host.name]):
        return None
    rivals = _rivals(situation, each)
    if not situation.proven or not rivals:
        took = f"; the room went to {_named(rivals)}" if rivals else ""
        message = f"fits alone{took}; not proven in the time given that it must wait"
        return Reason.of(Code.SOLVER_LIMIT, message, runs=tuple(rivals))
    return Reason.of(
        Code.OUTCOMPETED,
        f"fits alone; the room went to {_named(rivals)}",
        runs=tuple(rivals),
    )


def _rivals(situation: Situation, each: RunClass) -> list[str]:
    """Return a smallest set found of runs placed in this cycle without which it would fit.

    Hosts are freed one by one, those first where the fewest runs must go.
    """
    ask, eligibility = each.ask, situation.eligibility
    rooms = dict(situation.left)
    ways: list[tuple[int, str, list[str], Room]] = []
    for host in situation.hosts:
        before = eligibility.slots(ask, host, rooms[host.name])
        want = min(ask.tasks or 0, eligibility.slots(ask, host, host.start))
        want = want if ask.may_share else min(want, 1)
        if before >= want:
            continue
        gone, room = _displaced(situation, ask, host, want)
        ways.append((len(gone), host.name, gone, room))
    rivals: list[str] = []
    for _, name, gone, room in sorted(ways, key=lambda way: way[:2]):
        rooms[name] = room
        rivals += [run for run in gone if run not in rivals]
        if eligibility.fits(ask, lambda host: rooms[host.name]):
            return _needed(situation, each, rivals)
    return []


def _needed(situation: Situation, each: RunClass, rivals: Sequence[str]) -> list[str]:
    """Return those of the rivals that must all go: with any one of them there it doesn't fit."""
    needed = list(rivals)
    for run in rivals:
        fewer = [other for other in needed if other != run]
        rooms = situation.left_without(fewer)
        if situation.eligibility.fits(each.ask, functools.partial(_room_in, rooms)):
            needed = fewer
    return needed


def _room_in(rooms: Mapping[str, Room], host: Host) -> Room:
    return rooms[host.name]


def _displaced(situation: Situation, ask: Ask, host: Host, want: int) -> tuple[list[str], Room]:
    room = situation.left[host.name]
    gone: list[str] = []
    there = sorted(
        situation.on_host[host.name],
        key=lambda pair: (-pair[0].each.ask.gpus, -pair[0].each.ask.millicores, pair[0].run),
    )
    for start, seat in there:
        if situation.eligibility.slots(ask, host, room) >= want:
            break
        if ask.array and start.run == ask.array:
            continue
        room = given_back(room, start.each.ask, seat)
        if start.run not in gone:
            gone.append(start.run)
    return gone, room


def _named(runs: Sequence[str]) -> str:
    shown = ", ".join(runs[:NAMED])
    return f"{shown} and {len(runs) - NAMED} more" if len(runs) > NAMED else shown
