"""Why a run of several workers waits that would fit if several sites counted as one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from stowplan.model.reasons import Code, Figure, Reason
from stowplan.model.topology import Spot
from stowplan.solver.asks import Ask
from stowplan.solver.options import Options
from stowplan.solver.rooms import Ints, Rooms

_JOINING = ("keep_within", "spread", "interconnect")

type _Key = tuple[object, ...]
"""An NVLink domain or an RDMA network, whatever site it is in."""


@dataclass(frozen=True)
class Sites:
    """All sites at once, with some room on each host."""

    options: Options
    rooms: Rooms
    is_empty: bool
    """Whether that is the room of the empty fleet."""

    def span(self, ask: Ask) -> Reason | None:
        """Return SITE_SPAN where it would fit on the machines of several sites together; racks,
        fabrics and domains of one name then count as one."""
        ladder, slots = self.options.ladder, self.rooms.slots(ask)
        for hosts in self._across(ask):
            if ladder.workers(ask, hosts, slots[hosts]) >= (ask.tasks or 0):
                return self._told(ask, hosts)
        return None

    def span_anyway(self, ask: Ask) -> Reason | None:
        """Return the same where it would on the empty fleet, but for what it asks of networks."""
        asked = [name for name in _JOINING if getattr(ask, name)]
        if not asked or not self.is_empty:
            return None
        loose = replace(ask, keep_within=None, spread=None, interconnect=None)
        reason = self.span(loose)
        without = f", even if they were empty and without {' and '.join(asked)}:"
        return reason and reason.model_copy(
            update={"message": reason.message.replace(", even if they were empty:", without)}
        )

    def _across(self, ask: Ask) -> Iterator[Ints]:
        """Yield machines of several sites that its rules allow, going by names."""
        unbound = replace(ask, keep_within=None, interconnect=None)
        for group in self.options.ladder.groups(ask.keep_within, ask.min_gbps):
            if group.joint.sites > 1 and self.options.allows(unbound, group, but="one_site"):
                yield from self._linked(ask, group.hosts)

    def _linked(self, ask: Ask, hosts: Ints) -> Iterator[Ints]:
        """Yield those of them that one network of the kind asked for joins; all, if none is."""
        if ask.interconnect is None:
            yield hosts
            return
        members: dict[_Key, list[int]] = {}
        spots = self.options.ladder.spots_at(ask.min_gbps)
        for place in hosts.tolist():
            for key in _links(ask, spots[self.options.ladder.hosts[place].name]):
                members.setdefault(key, []).append(place)
        for places in members.values():
            if len({self._site(place) for place in places}) > 1:
                yield np.array(places, np.int64)

    def _site(self, place: int) -> str | None:
        spot = self.options.ladder.hosts[place].spot
        assert spot is not None  # groups of several sites are of machines
        return spot.site

    def _told(self, ask: Ask, hosts: Ints) -> Reason:
        tasks = ask.tasks or 0
        counts = sorted(self._by_site(ask, hosts), reverse=True)
        sites = max(2, int(np.searchsorted(np.cumsum(counts), tasks)) + 1)
        even = ", even if they were empty" if self.is_empty else ""
        text = (
            f"would span {sites:,} sites{even}: the best has room for "
            f"{counts[0]:,} of {tasks:,} workers"
        )
        numbers: dict[str, Figure] = {"sites": sites, "workers": tasks, "best": counts[0]}
        if self.is_empty:
            numbers["empty"] = True
            if ask.names or ask.scope is None:  # those named, or all that could take it
                numbers["rule"] = "node_selection"
        return Reason.of(Code.SITE_SPAN, text, **numbers)

    def _by_site(self, ask: Ask, hosts: Ints) -> Iterator[int]:
        ladder, slots = self.options.ladder, self.rooms.slots(ask)
        sites: dict[str | None, list[int]] = {}
        for place in hosts.tolist():
            sites.setdefault(self._site(place), []).append(place)
        for places in sites.values():
            own = np.array(places, np.int64)
            yield ladder.workers(ask, own, slots[own])


def _links(ask: Ask, spot: Spot) -> Iterator[_Key]:
    """Yield what could join a machine to others by a network that the run accepts."""
    if spot.domain is not None:
        yield ("nvlink", spot.domain)
    for own in spot.fabrics:
        if ask.interconnect in ("rdma", own.kind):
            yield own
