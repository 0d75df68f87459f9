"""Options: the shapes in which a run may start, and the groups of machines that it may be on.

A run of several workers has a class for each shape and group of which any could be chosen; a row
sees to it that each run takes one of them. What a group allows the rules say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from stowplan.solver.asks import Ask, RunClass
from stowplan.solver.eligibility import Eligibility
from stowplan.solver.ladder import Group, Ladder
from stowplan.solver.money.dealer import can_buy
from stowplan.solver.rooms import Rooms

type Way = tuple[Ask, Group | None]
"""What each worker asks, in some shape, and the group they are on; None: one machine, alone."""


@dataclass(frozen=True)
class Options:
    """What is open to runs, as far as the rules go."""

    eligibility: Eligibility
    _ways: dict[tuple[str, Ask, bool], Sequence[Way]] = field(default_factory=dict)

    @property
    def ladder(self) -> Ladder:
        """The groups of machines."""
        return self.eligibility.ladder

    @cached_property
    def rooms(self) -> Rooms:
        """What is free at the start of the cycle."""
        return _rooms(self.eligibility, empty=False)

    @cached_property
    def empty(self) -> Rooms:
        """What would be free on the empty fleet."""
        return _rooms(self.eligibility, empty=True)

    def of(self, classes: Sequence[RunClass], *, widest: bool = False) -> tuple[RunClass, ...]:
        """Return every option of every class: what fits at the start of the cycle.

        `widest`: each shape on whole sites instead, whatever joins their machines.
        """
        found: list[RunClass] = []
        for each in classes:
            if not has_options(each):
                found.append(each)
                continue
            options = self._widest(each) if widest else self.ways(each)
            found.extend(
                replace(each, ask=ask, group=group, option=number)
                for number, (ask, group) in enumerate(options)
            )
        return tuple(found)

    def ways(self, each: RunClass, *, buying: bool = False) -> Sequence[Way]:
        """Return the shapes and groups in which a run could start now, alone: the tightest rung
        first, then the fewest workers, then the least room. One machine is no group.

        `buying`: groups of offerings too, as the last rung.
        """
        key = (each.first, each.ask, buying)
        if key not in self._ways:
            rooms = self.rooms
            is_bound = self.only_tightest(each.ask)
            best = self.tightest(each, buying=buying) if is_bound else None
            options = [
                (ask, group)
                for ask, group in self.all_of(each, buying=buying)
                if (best is None or rung_of(group) == best) and self.fits(ask, group, rooms)
            ]
            self._ways[key] = sorted(options, key=_rank)
        return self._ways[key]

    def _widest(self, each: RunClass) -> list[Way]:
        """Return the shapes in which a run could start, on all machines of a site."""
        rooms = self.rooms
        found: list[Way] = []
        for ask in dict.fromkeys(ask for ask, _ in self.ways(each)):
            sites = (None,) if ask.tasks == 1 else self.ladder.sites
            found += [(ask, site) for site in sites if self.fits(ask, site, rooms)]
        return found

    def extent(self, each: RunClass) -> int:
        """Return on how many machines the options of a class could have a worker, in sum."""
        if not has_options(each):
            return 0
        rooms = self.rooms
        fitting = [ask for ask in each.ways if rooms.fits(ask)]
        machines = int((~self.ladder.offered).sum())
        return sum(
            machines if group is None else len(group.hosts)
            for ask in fitting
            for group in self.groups(ask)
        )

    def all_of(self, each: RunClass, *, buying: bool = False) -> Sequence[Way]:
        """Return what is open but for patience, the tightest rung first, the fewest workers."""
        asks = each.ways or (each.ask,)
        options = [(ask, group) for ask in asks for group in self.groups(ask)]
        if buying:
            options += [(ask, group) for ask in asks for group in self.bought(ask)]
        return sorted(options, key=lambda pair: (rung_of(pair[1]), pair[0].tasks or 0))

    def groups(self, ask: Ask) -> Iterator[Group | None]:
        """Yield the groups on which the rules allow a run; None: on any machine, alone."""
        if ask.tasks == 1:
            yield None
            return
        if ask.may_share:
            yield from (each for each in self.ladder.machines if self.allows(ask, each))
        groups = self.ladder.groups(ask.keep_within, ask.min_gbps)
        yield from (each for each in groups if self.allows(ask, each))

    def bought(self, ask: Ask) -> Iterator[Group]:
        """Yield the groups of offerings on which the rules allow a run of several workers."""
        groups = self.eligibility.offers.groups(ask.scope, ask.transport)
        yield from (each for each in groups if self.allows(ask, each))

    def allows(self, ask: Ask, group: Group, but: str | None = None) -> bool:
        """Whether every rule allows a run of several workers on a group; `but` one of them."""
        return all(
            rule.allows(ask, group)
            for rule in self.eligibility.rules
            if rule.allows is not None and rule.name != but
        )

    def only_tightest(self, ask: Ask) -> bool:
        """Whether some rule keeps a run to the tightest rung that it could ever get."""
        return any(rule.only_tightest(ask) for rule in self.eligibility.rules if rule.only_tightest)

    def tightest(
        self, each: RunClass, empty: Rooms | None = None, *, buying: bool = False
    ) -> int | None:
        """Return the tightest rung that a run could ever get, on the empty fleet, if any."""
        if empty is None:
            empty = self.empty
        return next(
            (
                rung_of(group)
                for ask, group in self.all_of(each, buying=buying)
                if self.fits(ask, group, empty)
            ),
            None,
        )

    def fits(self, ask: Ask, group: Group | None, rooms: Rooms) -> bool:
        """Whether a run fits whole, alone, on a group's machines in this much room."""
        if group is None:
            return rooms.fits(ask)
        if group.is_bought:
            return can_buy(ask, group, rooms)
        slots = rooms.slots(ask)[group.hosts]
        return self.ladder.workers(ask, group.hosts, slots) >= (ask.tasks or 0) > 0


def _rooms(eligibility: Eligibility, *, empty: bool) -> Rooms:
    rooms = {host.name: host.empty if empty else host.start for host in eligibility.hosts}
    return Rooms(eligibility, eligibility.hosts, rooms)


def has_options(each: RunClass) -> bool:
    """Whether a run has several workers, or may have."""
    return len(each.ways) > 1 or (each.ask.tasks or 0) > 1


def rung_of(group: Group | None) -> int:
    """Return how tight a group is; one machine is the tightest."""
    return 1 if group is None else group.rung


def _rank(way: Way) -> tuple[int, int, int]:
    ask, group = way
    return (rung_of(group), ask.tasks or 0, group.left(ask.all_gpus) if group else 0)
