"""Whole alternatives for a placed run: other hosts on which all its workers fit."""

from __future__ import annotations

import functools
import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from stowplan.model.room import Room
from stowplan.model.topology import MACHINE
from stowplan.solver import points
from stowplan.solver.decode import Seat
from stowplan.solver.explain.other_sets import other_sets
from stowplan.solver.explain.standing import Standing
from stowplan.solver.situation import given_back

MOST = 10
"""How many alternatives a decision lists."""

type Taker = tuple[int, str, int]
"""What a worker on a host costs in points, the host, and how many workers it could take."""


def fallbacks(standing: Standing, seats: Sequence[Seat]) -> tuple[str, ...]:
    """Return whole alternatives that fit with the rest fixed, best first.

    Of an array, the hosts that could take one of its elements instead.
    """
    group = standing.each.group
    if group is not None and group.is_bought:
        return tuple(other_sets(standing, seats)[:MOST])
    own = sorted(seat.host.name for seat in seats)
    ask = standing.each.ask
    if len(seats) == 1 or ask.array:
        names = standing.situation.names
        there = set(own)
        places = iter(standing.willing.places)
        others = (name for place in places if (name := names[place]) not in there)
        return tuple(itertools.islice(others, MOST))
    group = standing.each.group
    if group is not None and group.rung == MACHINE:
        return tuple(itertools.islice(_on_one(standing, own), MOST))
    takers = _takers(standing, seats)
    ways: Iterable[list[str]] = apart(takers, len(own))
    if ask.may_share:
        ways = sharing(takers, len(own), functools.partial(_earned, standing, own))
    found = ("+".join(each) for each in ways if each != own)
    return tuple(itertools.islice(found, MOST))


def _on_one(standing: Standing, own: Sequence[str]) -> Iterator[str]:
    """Yield the other machines that could take all of a run's workers, the best first."""
    situation, workers = standing.situation, len(own)
    listed = situation.listed(standing.each.ask)
    takers = listed[standing.rooms.slots(standing.each.ask)[listed] >= workers]
    ways = ([name] * workers for name in situation.names[takers].tolist() if name not in own)
    for names in sorted(ways, key=lambda names: (-_earned(standing, own, names), names)):
        yield "+".join(names)


def _takers(standing: Standing, seats: Sequence[Seat]) -> list[Taker]:
    """Return the hosts that could take a worker of a run if it weren't there, the best first.

    No more than the best sets can be made of: the tenth best set is one of those that are ten
    steps from the best.
    """
    situation, ask = standing.situation, standing.each.ask
    freed: dict[str, Room] = {}
    for seat in seats:
        room = freed.get(seat.host.name, situation.room_left(seat.host))
        freed[seat.host.name] = given_back(room, ask, seat)
    takers = []
    for name, room in freed.items():
        host = situation.hosts[situation.place_of[name]]
        worth = points.of_worker(ask, host, situation.plan.loads[name], 0)
        takers.append((-worth, name, situation.eligibility.slots(ask, host, room)))
    most = len(seats) + MOST + 1
    place_of = situation.place_of
    there = {place_of[name] for name in freed}
    if (group := standing.each.group) is not None:
        there |= set(group.hosts.tolist())
    others = (
        each
        for each in standing.takers
        if each[1] not in freed and (group is None or place_of[each[1]] in there)
    )
    takers += itertools.islice(others, most)
    return sorted(taker for taker in takers if taker[2])[:most]


def apart(takers: Sequence[Taker], workers: int) -> Iterator[list[str]]:
    """Yield sets of so many different hosts, the best first; the takers are sorted."""
    if workers > len(takers):
        return
    first = tuple(range(workers))
    queue = [(sum(takers[index][0] for index in first), first)]
    seen = {first}
    while queue:
        cost, chosen = heapq.heappop(queue)
        yield sorted(takers[index][1] for index in chosen)
        # Every set follows from a better one by moving one of its members one place on.
        for place, index in enumerate(chosen):
            after = index + 1
            moved = (*chosen[:place], after, *chosen[place + 1 :])
            if after < len(takers) and after not in chosen and moved not in seen:
                seen.add(moved)
                step = takers[after][0] - takers[index][0]
                heapq.heappush(queue, (cost + step, moved))


def sharing(
    takers: Sequence[Taker], workers: int, earned: Callable[[Sequence[str]], int]
) -> list[list[str]]:
    """Return ways to put so many workers on hosts that they may share: each host filled first."""
    ways: set[tuple[str, ...]] = set()
    for first in takers:
        names: list[str] = []
        for _, name, slots in (first, *(each for each in takers if each is not first)):
            names += [name] * min(workers - len(names), slots)
            if len(names) == workers:
                ways.add(tuple(sorted(names)))
                break
    return [list(names) for names in sorted(ways, key=lambda names: (-earned(names), names))]


def _earned(standing: Standing, own: Collection[str], names: Sequence[str]) -> int:
    """Return what the run's workers would earn on these hosts, instead of on its own."""
    ask, situation, earned = standing.each.ask, standing.situation, 0
    there = Counter(own)
    for name, count in Counter(names).items():
        host = situation.hosts[situation.place_of[name]]
        load = situation.plan.loads[name].plus(ask, host, 0, times=count - there[name])
        earned += count * points.of_worker(ask, host, load, 0)
    return earned
