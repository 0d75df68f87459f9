"""What runs stays: a placement once made is held, and taken back only where it is void."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from stowplan.model.fleet import Machine
from stowplan.model.reasons import Code, Reason
from stowplan.model.runs import PlacedWorker, Run

if TYPE_CHECKING:
    from stowplan.model.snapshot import Snapshot


class Stay(NamedTuple):
    """What becomes of a run that an earlier cycle placed."""

    outcome: Literal["kept", "held", "withdrawn"]
    reason: Reason


_STARTING = Stay("kept", Reason.of(Code.WORKLOAD_STARTING, "coming up where it was placed"))
_RUNNING = Stay("kept", Reason.of(Code.OK, "runs where it was placed"))


def is_fresh(machine: Machine, snapshot: Snapshot) -> bool:
    """Whether the machine reported within `policy.stale_after_s`."""
    reported = machine.reported_at or snapshot.now
    return snapshot.now - reported <= dt.timedelta(seconds=snapshot.policy.stale_after_s)


def is_superseded(run: Run, snapshot: Snapshot) -> bool:
    """Whether the run is starting by a decision that the fleet's generation has passed."""
    generation = run.placed.generation if run.placed else None
    return (
        run.state == "starting"
        and generation is not None
        and generation < snapshot.fleet.generation
    )


def holding(snapshot: Snapshot) -> Iterator[tuple[Run, PlacedWorker]]:
    """Yield every worker that holds its place: of running runs, and of starting ones not passed.

    A running worker whose GPU has vanished still holds the rest of its place in this cycle: its
    processes may still be there.
    """
    for run in snapshot.runs:
        if run.placed and run.state != "stopped" and not is_superseded(run, snapshot):
            for worker in run.placed.workers:
                yield run, worker


def stay_of(run: Run, snapshot: Snapshot) -> Stay:
    """Return what becomes of a run that is running, starting or stopped."""
    if run.state == "stopped" or run.placed is None:
        stopped = "stopped: it has a record and no process, and holds nothing"
        return Stay("withdrawn", Reason.of(Code.WORKLOAD_STOPPED, stopped))
    if is_superseded(run, snapshot):
        return Stay("withdrawn", _superseded(run.placed.generation or 0, snapshot))
    machines = snapshot.machines
    for worker in run.placed.workers:
        machine = machines.get(worker.host)
        if machine is None or machine.state == "down" or not is_fresh(machine, snapshot):
            return Stay("held", _no_evidence(worker.host, machine, snapshot))
    for worker in run.placed.workers:
        known = {device.id for device in machines[worker.host].devices}
        lost = tuple(device for device in worker.devices if device not in known)
        if lost:
            return Stay("withdrawn", _vanished(worker.host, lost))
    return _STARTING if run.state == "starting" else _RUNNING


def _superseded(generation: int, snapshot: Snapshot) -> Reason:
    current = snapshot.fleet.generation
    return Reason.of(
        Code.WORKLOAD_SUPERSEDED,
        f"placed at generation {generation}, and the fleet is at {current}",
        generation=generation,
        current=current,
    )


def _no_evidence(host: str, machine: Machine | None, snapshot: Snapshot) -> Reason:
    if machine is None:
        text = f"{host} isn't in the fleet: no proof that the run has ended"
        return Reason.of(Code.HARDWARE_STALE, text, host=host)
    if machine.state == "down":
        text = f"{host} is down: no proof that the run has ended"
        return Reason.of(Code.HARDWARE_STALE, text, host=host)
    age = math.ceil((snapshot.now - (machine.reported_at or snapshot.now)).total_seconds())
    limit = snapshot.policy.stale_after_s
    return Reason.of(
        Code.HARDWARE_STALE,
        f"{host} last reported {age:,} s ago (stale after {limit:,} s)",
        host=host,
        age_s=age,
        stale_after_s=limit,
    )


def _vanished(host: str, lost: tuple[str, ...]) -> Reason:
    return Reason.of(
        Code.GPU_UNAVAILABLE,
        f"{', '.join(lost)} no longer reported by {host}; pending again from the next cycle",
        host=host,
        devices=lost,
    )
