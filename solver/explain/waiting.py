"""What every host says of a run that waits: its reasons, the counts, and the closest host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stowplan.model.decision import HostRow
from stowplan.model.reasons import Code, Reason
from stowplan.solver.asks import Ask
from stowplan.solver.eligibility import Failing
from stowplan.solver.explain.alike import MOST_ROWS, Said, ends, rows
from stowplan.solver.explain.answers import Answer, answers
from stowplan.solver.explain.groups import Groups
from stowplan.solver.hosts import Host
from stowplan.solver.matching import usable
from stowplan.solver.money.prices import Bools
from stowplan.solver.rooms import Ints
from stowplan.solver.situation import Situation

READY = {"state", "freshness", "pressure", "accepting", "reserved_for"}
"""The rules of the first two filters."""
FITS = Reason.of(Code.OK, "has room for one of its workers")


@dataclass(frozen=True)
class Verdict:
    """What hosts alike would say of a worker that waits if they were empty."""

    host: Host
    """The first of them by name; of those that are too dear or too slow, the least so."""
    places: Ints
    """Of all of them, among all hosts."""
    empty: tuple[Failing, ...]
    count: int
    """How many there are: an offering counts once, whether some of it is warm or not."""


@dataclass(frozen=True)
class Closest:
    """The host that is short of room only, and of the least."""

    host: Host
    now: tuple[Failing, ...]
    """What fails with the room that the cycle leaves."""


@dataclass(frozen=True)
class Why:
    """Why the runs of a class wait, but for their place in line: what every listed host says."""

    situation: Situation
    ask: Ask
    groups: Groups
    """Where its runs could be."""

    @cached_property
    def verdicts(self) -> Sequence[Verdict]:
        """What the hosts would say if they were empty, those alike together."""
        situation, ask = self.situation, self.ask
        found = []
        for places in situation.rooms_empty.by_kind(ask, situation.listed(ask)):
            host = situation.hosts[self._nearest(places)]
            failing = situation.eligibility.failing(ask, host, host.empty)
            count = int(situation.counted[places].sum())
            found.append(Verdict(host, places, failing, count))
        return found

    def _nearest(self, places: Ints) -> int:
        """Return the host that misses the least of what hosts alike all miss."""
        keys = [figure[places] for mask, figure in self._dear if mask[places[0]]]
        return int(places[np.lexsort((places, *keys))[0]])

    @cached_property
    def _dear(self) -> Sequence[tuple[Bools, Ints]]:
        """Which hosts fail each rule on prices, and what is too much there."""
        priced = self.situation.rooms_empty.priced(self.ask)
        return [
            (mask, rule.figure(priced))
            for rule, mask in self.situation.rooms_empty.dear(self.ask).items()
            if priced and rule.figure
        ]

    @cached_property
    def now(self) -> Sequence[Answer]:
        """What the hosts say with the room that the cycle leaves."""
        listed = self.situation.listed(self.ask)
        return answers(self.situation.rooms_left, self.ask, listed, MOST_ROWS)

    @cached_property
    def rows(self) -> tuple[HostRow, ...]:
        """Every listed host with all its reasons."""
        names, states = self.situation.names, self.situation.states
        said = [
            Said(each.hosts[states[each.hosts] == state], state, ends(each))
            for each in self.now
            for state in sorted(set(states[each.hosts].tolist()))
        ]
        return tuple(
            HostRow(
                hosts=tuple(names[row.hosts].tolist()),
                kind=self.situation.kinds[row.kind][0],
                state=self.situation.kinds[row.kind][1],
                reasons=row.reasons or (FITS,),
            )
            for row in rows(said)
        )

    @cached_property
    def checked(self) -> int:
        """How many hosts count for the run."""
        return sum(verdict.count for verdict in self.verdicts)

    @cached_property
    def ready(self) -> int:
        """How many of them pass the first two filters: up, fresh, and taking this work."""
        return sum(
            verdict.count
            for verdict in self.verdicts
            if READY.isdisjoint(failing.rule.name for failing in verdict.empty)
        )

    @cached_property
    def down(self) -> int:
        """How many of them are down."""
        return sum(
            verdict.count for verdict in self.verdicts if verdict.host.machine.state == "down"
        )

    @cached_property
    def closest(self) -> Closest | None:
        """The host that lacks the least room, or None where no room would be enough.

        Of a run of several workers that don't all fit, a host that lacks some.
        """
        situation, ask = self.situation, self.ask
        takers = [verdict.places for verdict in self.verdicts if not verdict.empty]
        if not takers:
            return None
        places = np.sort(np.concatenate(takers))
        if not self.groups.fits(situation.rooms_empty, at_once=False):
            return None
        if (ask.tasks or 0) > 1 and not situation.rooms_left.fits(ask):
            lacking = places[situation.rooms_left.slots(ask)[places] == 0]
            places = lacking if len(lacking) else places
        host = situation.hosts[_least_lacking(situation, ask, places)]
        return Closest(host, situation.eligibility.failing(ask, host, situation.room_left(host)))


def _least_lacking(situation: Situation, ask: Ask, places: Ints) -> int:
    """Return which host lacks the least: GPUs first, then the share of cores and memory."""
    rooms = situation.rooms_left
    gpus = rooms.count(ask, lambda has: max(0, ask.gpus - usable(ask, has)))[places]
    cores = np.maximum(0, ask.millicores - rooms.cores[places]) / max(1, ask.millicores)
    memory = np.maximum(0, ask.memory_bytes - rooms.memory[places]) / max(1, ask.memory_bytes)
    return int(places[np.lexsort((cores + memory, gpus))[0]])
