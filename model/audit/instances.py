"""Instances: which one of which offering a host's name tells, as the audit itself counts them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from stowplan.model.fleet import Machine, Offering
from stowplan.model.instances import instances_of, offering_named
from stowplan.model.snapshot import Snapshot

_MOST_DIGITS = 18


class Instance(NamedTuple):
    """What one can have of an offering."""

    offering: Offering
    is_warm: bool
    """Idle and yours already; else it is to be created."""
    is_left: bool = True
    """Among those that can start now; else it is sold out."""


type Host = Machine | Instance
"""Where a worker can be."""


class Stock:
    """The instances of a snapshot's offerings, by the names that they would have."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.offerings: Mapping[str, Offering] = {
            offering.name: offering for offering in snapshot.fleet.offerings
        }

    def named(self, host: str) -> Instance | None:
        """Return the instance of this name, or None where it isn't one's name.

        `<offering>#<n>` with n from 1 on, no machine's own name. Names are used in their order, the
        warm ones first, so the name tells by itself what the instance is.
        """
        offering, number = self.offerings.get(offering_named(host)), _number(host)
        if offering is None or number is None or host in self._snapshot.machines:
            return None
        place = number - bisect_right(self._taken.get(offering.name, []), number)
        there = instances_of(offering, self._snapshot.policy)
        return Instance(offering, place <= there.warm, place <= there.warm + there.cold)

    @cached_property
    def kinds(self) -> tuple[Instance, ...]:
        """What there is of each offering: one to be created, and a warm one where there are any."""
        return tuple(kind for each in self.offerings.values() for kind in self._kinds_of(each))

    def _kinds_of(self, offering: Offering) -> Iterator[Instance]:
        there = instances_of(offering, self._snapshot.policy)
        yield Instance(offering, is_warm=False, is_left=there.cold > 0)
        if there.warm:
            yield Instance(offering, is_warm=True)

    @cached_property
    def _taken(self) -> Mapping[str, list[int]]:
        """The numbers of each offering's names that machines have, in their order."""
        taken: dict[str, list[int]] = {}
        for machine in self._snapshot.fleet.machines:
            number = _number(machine.name)
            if number is not None:
                taken.setdefault(offering_named(machine.name), []).append(number)
        return {name: sorted(numbers) for name, numbers in taken.items()}


def _number(host: str) -> int | None:
    """Return the number in `<offering>#<n>`, written plainly; None where there is none."""
    _, mark, written = host.rpartition("#")
    if not (mark and written.isascii() and written.isdigit() and len(written) <= _MOST_DIGITS):
        return None
    return int(written) if written[0] != "0" else None
