"""A scheduler that goes down the ladder, run by run, as topology-aware ones in Kubernetes do.

Runs are taken in line. A run of one worker goes to the fullest machine that it fits on. One of
several goes to the first rung on which all of it fits: there to the group that has the least room,
on as few machines as it can be cut over, the fullest that fit. What doesn't fit is passed over.
Rules are kept. It counts GPUs, and nothing else: cores and memory must not run short.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stowplan.model.fleet import Fleet
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.bench.gangs.ground import BELOW_ONE, ONE_MACHINE, Key, Spot, may_join, spots_of
from tests.bench.gangs.runs import Answer, Placed, cuts_of, in_line
from tests.bench.plain import Flags, Ints

type Members = tuple[Ints, Ints]
"""Machines and the group of each; a machine may be of several groups of one rung."""


class Groups:
    """A fleet's groups: which machines are of each, rung by rung."""

    def __init__(self, fleet: Fleet) -> None:
        """Look where every machine stands."""
        self.spots = spots_of(fleet)
        self.names = tuple(machine.name for machine in fleet.machines)
        self._known: dict[tuple[str, str | None], list[tuple[int, Members]]] = {}
        self._hosting: dict[object, Flags] = {}

    def tightest_first(self, run: Run) -> list[tuple[int, Members]]:
        """Return the groups that a run's rules allow, on each rung that has any."""
        asked = (run.network.interconnect, run.topology.keep_within)
        if asked not in self._known:
            self._known[asked] = list(self._groups(run))
        return self._known[asked]

    def hosting(self, run: Run) -> Flags:
        """Return which machines a run's rules allow."""
        network, labels = run.network, run.node_selection.match_labels
        asked = (network.interconnect, network.min_gbps, frozenset(labels.items()))
        if asked not in self._hosting:
            self._hosting[asked] = np.array([spot.may_host(run) for spot in self.spots])
        return self._hosting[asked]

    def _groups(self, run: Run) -> Iterator[tuple[int, Members]]:
        if run.topology.keep_within == "node":
            return
        for rung in BELOW_ONE:
            number: dict[tuple[Key, str], int] = {}
            pairs = [
                (machine, number.setdefault((key, unit), len(number)))
                for machine, spot in enumerate(self.spots)
                for key, unit in _groups_of(spot, rung, run)
            ]
            if pairs:
                machines, groups = np.array(pairs, np.int64).T
                yield rung, (machines, groups)


def _groups_of(spot: Spot, rung: int, run: Run) -> Iterator[tuple[Key, str]]:
    unit = spot.unit_of(run.topology.keep_within)
    if unit is not None:
        yield from ((key, unit) for key in spot.keys(rung) if may_join(run, rung, key))


@dataclass
class Room:
    """What is free: GPUs of each machine, and how many of these are sound."""

    free: Ints
    sound: Ints

    @classmethod
    def of(cls, snapshot: Snapshot) -> Room:
        """Return what neither runs nor starts leave free."""
        held: Counter[str] = Counter()
        devices: set[tuple[str, str]] = set()
        for run in snapshot.runs:
            for worker in run.placed.workers if run.placed else ():
                held[worker.host] += len(worker.devices)
                devices.update((worker.host, device) for device in worker.devices)
        free, sound = [], []
        for machine in snapshot.fleet.machines:
            left = [
                device.health
                for device in machine.devices
                if device.health != "faulted" and (machine.name, device.id) not in devices
            ]
            free.append(len(left))
            sound.append(left.count("healthy"))
        return cls(np.array(free, np.int64), np.array(sound, np.int64))

    def take(self, machines: Ints, gpus: int, *, healthy_only: bool) -> None:
        """Take GPUs on each of these machines: those at risk first, by runs that may."""
        self.free[machines] -= gpus
        if healthy_only:
            self.sound[machines] -= gpus
        self.sound[machines] = np.minimum(self.sound[machines], self.free[machines])


def ladder(snapshot: Snapshot, groups: Groups | None = None) -> Answer:
    """Return where each run goes, one after the other."""
    groups = groups or Groups(snapshot.fleet)
    room = Room.of(snapshot)
    answer: dict[str, Placed] = {}
    full: set[object] = set()
    for run in in_line(snapshot):
        asked = _asked(run)
        if asked in full:  # room only shrinks
            continue
        found = place(run, room, groups)
        if found is None:
            full.add(asked)
            continue
        rung, machines = found
        each = run.gpus.count // len(machines)
        room.take(machines, each, healthy_only=run.gpus.healthy_only)
        answer[run.name] = Placed(tuple(groups.names[one] for one in machines.tolist()), rung)
    return answer


def _asked(run: Run) -> object:
    network, labels = run.network, frozenset(run.node_selection.match_labels.items())
    return (run.machines, run.gpus, run.topology, network, labels)


def place(run: Run, room: Room, groups: Groups) -> tuple[int, Ints] | None:
    """Return the rung that a run gets and its machines, or None where it doesn't fit."""
    there = room.sound if run.gpus.healthy_only else room.free
    there = np.where(groups.hosting(run), there, 0)
    cuts = cuts_of(run)
    if cuts and cuts[0][0] == 1:
        fits = np.flatnonzero(there >= run.gpus.count)
        if len(fits):
            return ONE_MACHINE, fits[[room.free[fits].argmin()]]
        cuts = cuts[1:]
    for rung, (machines, group) in groups.tightest_first(run) if cuts else ():
        counts = [np.bincount(group[there[machines] >= each]) for _, each in cuts]
        least = _least_room(room.free[machines], group, counts, cuts)
        if least is not None:
            workers, each = next(
                cut
                for cut, count in zip(cuts, counts, strict=True)
                if least < len(count) and count[least] >= cut[0]
            )
            inside = machines[(group == least) & (there[machines] >= each)]
            fullest = np.argsort(room.free[inside], kind="stable")
            return rung, inside[fullest[:workers]]
    return None


def _least_room(
    free: Ints, group: Ints, counts: list[NDArray[np.int64]], cuts: list[tuple[int, int]]
) -> int | None:
    """Return the group with the least room of those that a run fits in."""
    fits = np.zeros(int(group.max()) + 1, np.bool_)
    for (workers, _), count in zip(cuts, counts, strict=True):
        fits[: len(count)] |= count >= workers
    if not fits.any():
        return None
    rooms = np.bincount(group, weights=free, minlength=len(fits))
    return int(np.where(fits, rooms, np.inf).argmin())


def rungs_of(answer: Answer, runs: Mapping[str, Run]) -> Counter[int]:
    """Return how many of the runs of several workers are on each rung."""
    return Counter(
        placed.rung or 0
        for name, placed in answer.items()
        if len(cuts_of(runs[name])) > 1 or cuts_of(runs[name])[0][0] > 1
    )
