"""The groups of offerings whose instances a run of several workers may be on together.

Each is as wide as a scope and a transport allow: no further instance could be joined.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from stowplan.model.fleet import Offering
from stowplan.model.vicinity import Scope, Transport, has_path, location_of, words_of, zone_of
from stowplan.solver.hosts import Host
from stowplan.solver.ladder import Group, Vicinity


@dataclass(frozen=True)
class Offers:
    """All groups of offerings, found once for each scope and transport."""

    hosts: Sequence[Host]
    _found: dict[tuple[Scope, Transport], tuple[Group, ...]] = field(default_factory=dict)

    def groups(self, scope: Scope | None, transport: Transport) -> tuple[Group, ...]:
        """Return the widest groups; None: of no scope."""
        if scope is None:
            return ()
        key = (scope, transport)
        if key not in self._found:
            members = dict.fromkeys(self._members(scope, transport))
            self._found[key] = tuple(
                Group.bought(Vicinity(scope, transport, words), np.array(places), number)
                for number, (words, places) in enumerate(members)
            )
        return self._found[key]

    def _members(self, scope: Scope, transport: Transport) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Yield each group's name and the places of its hosts.

        Any two nodes are joined directly: either both can be reached so from anywhere, or both are
        in one location and network and are private there. So a widest set is all of one kind.
        """
        zones: dict[Hashable, list[tuple[int, Offering]]] = {}
        for place, host in enumerate(self.hosts):
            if host.offering is not None:
                zones.setdefault(zone_of(host.offering, scope), []).append((place, host.offering))
        for zone in zones.values():
            if transport == "auto":
                yield _named(scope, zone)
                continue
            direct = [each for each in zone if has_path(each[1], "direct")]
            if direct:
                yield _named(scope, direct)
            private: dict[Hashable, list[tuple[int, Offering]]] = {}
            for each in zone:
                if has_path(each[1], "private"):
                    private.setdefault(location_of(each[1]), []).append(each)
            for own in private.values():
                if not {place for place, _ in own} <= {place for place, _ in direct}:
                    yield _named("colocated", own)


def _named(scope: Scope, members: Sequence[tuple[int, Offering]]) -> tuple[str, tuple[int, ...]]:
    first = members[0][1]
    words = {
        "colocated": words_of(first),
        "regional": f"region class {first.region_class}" if first.region_class else words_of(first),
        "global": "all locations",
    }
    return words[scope], tuple(place for place, _ in members)
