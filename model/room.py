"""What is free on each machine: whole, less what others use, less what runs hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stowplan.model.fleet import Machine
from stowplan.model.holds import holding
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

    def less(self, millicores: int, memory_bytes: int, devices: frozenset[str]) -> Room:
        """Return what is left when a worker takes this much."""
        return Room(
            self.millicores - millicores,
            self.memory_bytes - memory_bytes,
            self.devices - devices,
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
    rooms = {
        machine.name: empty_room(machine).less(
            millicores(machine.used.cpu_cores), machine.used.memory_bytes, frozenset()
        )
        for machine in snapshot.fleet.machines
    }
    for run, worker in holding(snapshot):
        if worker.host in rooms:
            demand = demand_of(run, len(worker.devices))
            rooms[worker.host] = rooms[worker.host].less(
                demand.millicores, demand.memory_bytes, frozenset(worker.devices)
            )
    return rooms
