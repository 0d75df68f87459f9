"""What starts in a cycle, joined with the snapshot: runs, their workers, and where these are."""

from __future__ import annotations

from typing import NamedTuple

from stowplan.model.audit.instances import Host, Instance
from stowplan.model.decision import PlacedRun, Worker
from stowplan.model.fleet import Device, Machine, Offering
from stowplan.model.runs import Run


class Seat(NamedTuple):
    """A worker that starts in this cycle, and on which machine."""

    run: Run
    worker: Worker
    machine: Machine
    devices: tuple[Device, ...]
    """Those of its GPUs that the machine has; `room` refuses the others."""


class Bought(NamedTuple):
    """A worker that starts in this cycle, and on an instance of which offering."""

    run: Run
    worker: Worker
    offering: Offering
    is_warm: bool
    """Idle and yours already; else it is to be created."""
    is_left: bool
    """Whether so many instances can start now; `room` refuses those beyond."""

    @property
    def host(self) -> Instance:
        """The instance, whichever it is."""
        return Instance(self.offering, self.is_warm)


class Taken(NamedTuple):
    """A worker that starts in this cycle, and the host that it takes."""

    run: Run
    worker: Worker
    host: Host


class Start(NamedTuple):
    """A run that starts in this cycle, and its outcome."""

    run: Run
    outcome: PlacedRun
