"""Where a run of one or several workers may be: every rule of its own, and patience."""

from __future__ import annotations

import datetime as dt
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.witness.fits import slots
from tests.witness.ladder import link_of, room_left, rung_of
from tests.witness.machines import Room, machine_named, rooms
from tests.witness.places import Place, bad_ports, free_gpus, places
from tests.witness.reasons import barred
from tests.witness.shapes import Shape, everywhere, shapes, worker_of


class Way(NamedTuple):
    """One way to place a run: the machine of each worker, in order, and what that comes to."""

    hosts: tuple[str, ...]
    gpus: int
    """Of each worker."""
    rung: int
    room: int


class Ground:
    """A fleet as runs of several workers see it."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.free = free_gpus(snapshot)
        self.start, self.empty = rooms(snapshot), rooms(snapshot, empty=True)
        self._barred: dict[tuple[str, str, int], list[str]] = {}
        self._seen: dict[float | None, Mapping[str, Place]] = {}

    def seen(self, run: Run) -> Mapping[str, Place]:
        """The place of each machine for a run that uses no slower ports than it asks for."""
        least = run.network.min_gbps
        if least not in self._seen:
            self._seen[least] = places(self.snapshot, least)
        return self._seen[least]

    def spots(self, run: Run, hosts: Sequence[str]) -> list[Place]:
        """The places of the machines for the run, one each."""
        there = self.seen(run)
        return [there[host] for host in sorted(set(hosts))]

    def broken(self, run: Run, gpus: int, hosts: Sequence[str]) -> list[str]:
        """The rules, room and patience aside, that workers of so many GPUs there break."""
        told = []
        cut = [each for each in shapes(self.snapshot, run) if each[:2] == (len(hosts), gpus)]
        if not cut or (len(set(hosts)) < len(hosts) and not cut[0].may_share):
            told.append("shape")
        if run.node_selection.mode == "all":
            told += ["all"] if sorted(hosts) != sorted(everywhere(self.snapshot, run)) else []
        for host in set(hosts):
            told += self.barred(run, gpus, host)
        return sorted({*told, *self.apart(run, hosts)})

    def barred(self, run: Run, gpus: int, host: str) -> list[str]:
        """What keeps a worker with so many GPUs off the machine whatever the room."""
        key = (run.name, host, gpus)
        if key not in self._barred:
            machine = machine_named(self.snapshot, host)
            told = barred(self.snapshot, machine, worker_of(run, gpus))
            self._barred[key] = [*told, *bad_ports(machine, run)]
        return self._barred[key]

    def apart(self, run: Run, hosts: Sequence[str]) -> list[str]:
        """The rules that its workers break by where they are to each other."""
        if len(hosts) == 1:
            return []
        spots, there = self.spots(run, hosts), self.seen(run)
        each = [there[host] for host in hosts]
        told = [*_not_within(run, spots), *_not_spread(run, hosts, each)]
        level = rung_of(spots)
        if level is None:
            return [*told, "one_site"]
        return [*told, "interconnect"] if level > _loosest(run, spots) else told

    def takes(self, run: Run, gpus: int, free: Mapping[str, Room]) -> dict[str, int]:
        """How many workers with so many GPUs each machine takes, those that take any."""
        worker = worker_of(run, gpus)
        found = {
            machine.name: slots(self.snapshot, machine, worker, free)
            for machine in self.snapshot.fleet.machines
            if not self.barred(run, gpus, machine.name)
        }
        return {name: count for name, count in found.items() if count}

    def ways(self, run: Run, free: Mapping[str, Room]) -> Iterator[Way]:
        """Yield every lawful way to place the run alone with so much room, patience aside."""
        for shape in shapes(self.snapshot, run):
            for hosts in _sets(shape, self.takes(run, shape.gpus, free)):
                if self.apart(run, hosts):
                    continue
                if run.node_selection.mode == "all" and self.broken(run, shape.gpus, hosts):
                    continue
                level = rung_of(self.spots(run, hosts))
                assert level is not None
                room = room_left(self.seen(run), self.free, run, hosts)
                yield Way(hosts, shape.gpus, level, room)

    def lawful(self, run: Run, free: Mapping[str, Room]) -> list[Way]:
        """Every lawful way to place the run alone with so much room, patience kept."""
        found = list(self.ways(run, free))
        if found and self.is_patient(run):
            best = self.tightest(run)
            return [way for way in found if way.rung == best]
        return found

    def is_patient(self, run: Run) -> bool:
        """Whether it still waits for the tightest rung that it could ever get."""
        now, submitted = self.snapshot.now, run.submitted_at or self.snapshot.now
        return now < submitted + dt.timedelta(seconds=run.topology.patience_s)

    def tightest(self, run: Run) -> int | None:
        """The tightest rung that it could get alone on the empty fleet; None: it gets none."""
        return min((way.rung for way in self.ways(run, self.empty)), default=None)


def _sets(shape: Shape, takes: Mapping[str, int]) -> Iterator[tuple[str, ...]]:
    """Yield the machines of all workers, one each, where each machine takes so many."""
    if not shape.may_share:
        yield from itertools.combinations(sorted(takes), shape.workers)
        return
    for hosts in itertools.combinations_with_replacement(sorted(takes), shape.workers):
        if all(count <= takes[name] for name, count in Counter(hosts).items()):
            yield hosts


def _not_within(run: Run, spots: Sequence[Place]) -> Iterator[str]:
    """Yield keep_within: they leave the unit, or it isn't known."""
    kept = run.topology.keep_within
    if kept == "node" and len(spots) > 1:
        yield "keep_within"
    elif kept is not None and kept != "node":
        units = {spot.within(kept) for spot in spots}
        if None in units:
            yield "TOPOLOGY_UNLABELLED"
        elif len(units) > 1:
            yield "keep_within"


def _not_spread(run: Run, hosts: Sequence[str], each: Sequence[Place]) -> Iterator[str]:
    """Yield spread: two workers are in one unit, or it isn't known; one place for each worker."""
    spread = run.topology.spread
    if spread == "node" and len(set(hosts)) < len(hosts):
        yield "spread"
    elif spread is not None and spread != "node":
        units = [place.within(spread) for place in each]
        if None in units:
            yield "TOPOLOGY_UNLABELLED"
        elif len(set(units)) < len(units):
            yield "spread"


def _loosest(run: Run, spots: Sequence[Place]) -> int:
    """The loosest rung that the interconnect asked allows on these machines."""
    link = link_of(spots)
    if run.network.interconnect == "infiniband" and link and link.kind == "infiniband":
        return 6
    return {"auto": 8, "rdma": 6, "infiniband": 4, "nvlink": 2}[run.network.interconnect]
