"""The shape for which the reasons of a run are told, where several are open to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from stowplan.solver.asks import Ask
from stowplan.solver.eligibility import Eligibility
from stowplan.solver.explain.sides import HOST_RULES
from stowplan.solver.rooms import Rooms


@dataclass(frozen=True)
class Telling:
    """The empty fleet, as it is and as it would be if nothing but its size kept runs out."""

    eligibility: Eligibility

    @cached_property
    def empty(self) -> Rooms:
        """What is free with nothing on the hosts."""
        return self._empty(self.eligibility)

    @cached_property
    def _opened(self) -> Rooms:
        """The same, were every machine up and open to all."""
        own = self.eligibility
        rules = [rule for rule in own.rules if rule.name not in HOST_RULES]
        return self._empty(Eligibility(rules, own.hosts, own.prices))

    @staticmethod
    def _empty(eligibility: Eligibility) -> Rooms:
        hosts = eligibility.hosts
        return Rooms(eligibility, hosts, {each.name: each.empty for each in hosts})

    def shape(self, ways: tuple[Ask, ...]) -> Ask:
        """Return the fewest workers that fit the empty fleet, wherever its machines stand; else
        that would but for its topology, or the machines' own side; else of which one would."""
        if len(ways) == 1:
            return ways[0]
        return next(self._shapes(ways), ways[0])

    def _shapes(self, ways: Sequence[Ask]) -> Iterator[Ask]:
        lists = (
            (rooms, [(way, asked(way)) for way in ways])
            for rooms in (self.empty, self._opened)
            for asked in (_as_asked, loose)
        )
        for rooms, loosened in lists:
            yield from (way for way, ask in loosened if rooms.fits(ask))
        for rooms in (self.empty, self._opened):
            yield from (way for way in ways if self._takes_one(rooms, loose(way)))

    def _takes_one(self, rooms: Rooms, ask: Ask) -> bool:
        """Whether some machine takes a worker."""
        slots = rooms.slots(ask)
        return any(slots[host.place] > 0 and not host.offering for host in self.eligibility.hosts)


def _as_asked(ask: Ask) -> Ask:
    return ask


def loose(ask: Ask) -> Ask:
    """Return what a run asks but for its topology and its network."""
    return replace(ask, keep_within=None, spread=None, interconnect=None, min_gbps=None)
