"""Options: the shapes in which a run may start, and the groups of machines that it may be on.

A run of several workers has a class for each shape and group of which any could be chosen; a row
sees to it that each run takes one of them. What a group allows the rules say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from stowplan.solver.asks import Ask, RunClass
from stowplan.solver.eligibility import Eligibility
from stowplan.solver.ladder import Group, Ladder
from stowplan.solver.rooms import Rooms


@dataclass(frozen=True)
class Options:
    """What is open to runs, as far as the rules go."""

    eligibility: Eligibility

    @property
    def ladder(self) -> Ladder:
        """The groups of machines."""
        return self.eligibility.ladder

    def of(self, classes: Sequence[RunClass], *, widest: bool = False) -> tuple[RunClass, ...]:
        """Return every option of every class; `widest`: no group that is within another.

        What fits at the start of the cycle: others could not be chosen.
        """
        rooms = _rooms(self.eligibility, empty=False)
        found: list[RunClass] = []
        for each in classes:
            if not _has_options(each):
                found.append(each)
                continue
            options = [
                (ask, group)
                for ask, group in self._open(each, rooms)
                if self.fits(ask, group, rooms)
            ]
            if widest:
                options = _widest(options)
            found.extend(
                replace(each, ask=ask, group=group, option=number)
                for number, (ask, group) in enumerate(options)
            )
        return tuple(found)

    def _open(self, each: RunClass, rooms: Rooms) -> Iterator[tuple[Ask, Group | None]]:
        """Yield shapes with groups, the tightest rung first, then the fewest workers.

        One machine is no group: each run of one worker is on one.
        """
        options = list(self.all_of(each))
        if each.ask.is_patient:
            best = self.tightest(each)
            options = [(ask, group) for ask, group in options if rung_of(group) == best]
        yield from options

    def all_of(self, each: RunClass) -> Sequence[tuple[Ask, Group | None]]:
        """Return what is open but for patience, the tightest rung first, the fewest workers."""
        options = [(ask, group) for ask in each.ways or (each.ask,) for group in self.groups(ask)]
        return sorted(options, key=lambda pair: (rung_of(pair[1]), pair[0].tasks or 0))

    def groups(self, ask: Ask) -> Iterator[Group | None]:
        """Yield the groups on which the rules allow a run; None: on any machine, alone."""
        if ask.tasks == 1:
            yield None
            return
        if ask.may_share:
            yield from (each for each in self.ladder.machines if self.allows(ask, each))
        yield from (each for each in self.ladder.groups(ask.keep_within) if self.allows(ask, each))

    def allows(self, ask: Ask, group: Group, but: str | None = None) -> bool:
        """Whether every rule allows a run of several workers on a group; `but` one of them."""
        return all(
            rule.allows(ask, group)
            for rule in self.eligibility.rules
            if rule.allows is not None and rule.name != but
        )

    def tightest(self, each: RunClass, empty: Rooms | None = None) -> int | None:
        """Return the tightest rung that a run could ever get, on the empty fleet, if any."""
        if empty is None:
            empty = _rooms(self.eligibility, empty=True)
        return next(
            (rung_of(group) for ask, group in self.all_of(each) if self.fits(ask, group, empty)),
            None,
        )

    def fits(self, ask: Ask, group: Group | None, rooms: Rooms) -> bool:
        """Whether a run fits whole, alone, on a group's machines in this much room."""
        if group is None:
            return rooms.fits(ask)
        slots = rooms.slots(ask)[group.hosts]
        return self.ladder.workers(ask, group.hosts, slots) >= (ask.tasks or 0) > 0


def _rooms(eligibility: Eligibility, *, empty: bool) -> Rooms:
    rooms = {host.name: host.empty if empty else host.start for host in eligibility.hosts}
    return Rooms(eligibility, eligibility.hosts, rooms)


def _has_options(each: RunClass) -> bool:
    return len(each.ways) > 1 or (each.ask.tasks or 0) > 1


def rung_of(group: Group | None) -> int:
    """Return how tight a group is; one machine is the tightest."""
    return 1 if group is None else group.rung


def _widest(options: Sequence[tuple[Ask, Group | None]]) -> list[tuple[Ask, Group | None]]:
    """Return the options without those on a group within that of another of the same shape."""
    kept: list[tuple[Ask, Group | None]] = []
    for ask, group in sorted(options, key=lambda pair: -len(_places(pair[1]))):
        inside = (
            set(_places(group)) <= set(_places(other))
            for own, other in kept
            if own is ask and other is not None and group is not None
        )
        if not any(inside):
            kept.append((ask, group))
    return [pair for pair in options if any(pair is other for other in kept)]


def _places(group: Group | None) -> list[int]:
    return [] if group is None else group.hosts.tolist()
