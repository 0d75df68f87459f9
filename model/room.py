"""What is free on each machine: whole, less what others use, less what runs hold and start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from stowplan.model.decision import Decision, PlacedRun, Worker
from stowplan.model.fleet import Machine
from stowplan.model.holds import holding
from stowplan.model.runs import PlacedWorker, Run
from stowplan.model.shape import demand_of
from stowplan.model.snapshot import Snapshot
from stowplan.model.types import millicores


@dataclass(frozen=True)
class Room:
    """What is free on a machine; less than nothing where it is overcommitted."""

    millicores: int
    memory_bytes: int
    devices: frozenset[str]
    """Ids of the GPUs that no run holds, whatever their health."""
    instances: int = 1
    """Of an offering: how many can still be had; the rest is the room of each of them."""

    def less(self, millicores: int, memory_bytes: int, devices: frozenset[str]) -> Room:
        """Return what is left when a worker takes this much."""
        return Room(
            self.millicores - millicores,
            self.memory_bytes - memory_bytes,
            self.devices - devices,
            self.instances,
        )


def empty_room(machine: Machine) -> Room:
    """Return the room of a machine with no run on it and nothing used by others."""
    return Room(
        millicores(machine.cpu_cores),
        machine.memory_bytes,
        frozenset(device.id for device in machine.devices),
    )


def free_room(snapshot: Snapshot) -> Mapping[str, Room]:
    """Return what is free on each machine at the start of the cycle, by machine name."""
    unheld = {
        machine.name: empty_room(machine).less(
            millicores(machine.used.cpu_cores), machine.used.memory_bytes, frozenset()
        )
        for machine in snapshot.fleet.machines
    }
    return _beside(unheld, holding(snapshot))


def room_after(snapshot: Snapshot, decision: Decision) -> Mapping[str, Room]:
    """Return what is free on each machine once what the decision places has started."""
    runs = {run.name: run for run in snapshot.runs}
    starting = (
        (runs[outcome.run], worker)
        for outcome in decision.outcomes
        if isinstance(outcome, PlacedRun)
        for worker in outcome.workers
    )
    return _beside(free_room(snapshot), starting)


def _beside(
    rooms: Mapping[str, Room], workers: Iterable[tuple[Run, PlacedWorker | Worker]]
) -> Mapping[str, Room]:
    """Return what these workers leave; one on a machine that isn't there takes nothing."""
    left = dict(rooms)
    for run, worker in workers:
        if worker.host in left:
            demand = demand_of(run, len(worker.devices))
            left[worker.host] = left[worker.host].less(
                demand.millicores, demand.memory_bytes, frozenset(worker.devices)
            )
    return left
