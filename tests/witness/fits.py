"""Whether one run fits, by itself or beside others. Its workers are alike: no search is needed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from stowplan.model.decision import Decision
from stowplan.model.fleet import Machine
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.witness.asked import (
    cores_each,
    gpus_each,
    gpus_held,
    holding,
    is_uneven,
    is_waiting,
    is_within_quota,
    may_share,
    may_start,
    memory_each,
    placed_workers,
    run_named,
)
from tests.witness.machines import Room, in_pools, machine_named, rooms, usable
from tests.witness.reasons import barred


def slots(snapshot: Snapshot, machine: Machine, run: Run, free: Mapping[str, Room]) -> int:
    """How many workers of the run the machine takes, counted no further than any test needs."""
    if barred(snapshot, machine, run):
        return 0
    room, gpus = free[machine.name], gpus_each(run)
    most = 10**6
    if cores := cores_each(run, gpus):
        most = min(most, room.cores // cores)
    if memory := memory_each(run, gpus):
        most = min(most, room.memory // memory)
    if gpus:
        most = min(most, len(usable(machine, run, room)) // gpus)
    return max(0, most)


def would_take(snapshot: Snapshot, machine_name: str, run_name: str, empty: bool) -> bool:
    """Whether the machine takes one worker of the run: with nothing on it, or as it is now."""
    machine, run = machine_named(snapshot, machine_name), run_named(snapshot, run_name)
    return slots(snapshot, machine, run, rooms(snapshot, empty=empty)) > 0


def fits_alone(snapshot: Snapshot, run_name: str, elements: int = 1) -> bool:
    """Whether the run (so many elements of an array) fits if nothing else is placed.

    The room is that of the cycle's start; quota and array limit bind, the queue doesn't.
    """
    run = run_named(snapshot, run_name)
    held = gpus_held(snapshot, run.workspace)
    return (
        elements <= may_start(snapshot, run)
        and is_within_quota(snapshot, run, elements * gpus_each(run), held)
        and has_room(snapshot, run, rooms(snapshot), elements)
    )


def fits_beside(snapshot: Snapshot, decision: Decision, run_name: str) -> bool:
    """Whether the run (one more element of an array) fits beside all that the decision placed."""
    run = run_named(snapshot, run_name)
    placed = len(placed_workers(decision).get(run_name, ()))
    held = gpus_held(snapshot, run.workspace, decision)
    return (
        placed < may_start(snapshot, run)
        and is_within_quota(snapshot, run, gpus_each(run), held)
        and has_room(snapshot, run, rooms(snapshot, decision), 1)
    )


def could_ever_start(snapshot: Snapshot, run_name: str) -> bool:
    """Whether the run (an element) could start alone on the fleet with nothing on it."""
    run = run_named(snapshot, run_name)
    return is_within_quota(snapshot, run, gpus_each(run), 0) and has_room(
        snapshot, run, rooms(snapshot, empty=True), 1
    )


def ahead(snapshot: Snapshot, run: Run) -> list[Run]:
    """The earlier runs of its queue that a strict queue lets start before it, in their turn."""

    def turn(other: Run) -> tuple[int, dt.datetime, str]:
        return (-other.priority, other.submitted_at or snapshot.now, other.name)

    return [
        other
        for other in sorted(snapshot.runs, key=turn)
        if other.workspace == run.workspace
        and is_waiting(snapshot, other)
        and turn(other) < turn(run)
        and not holding(snapshot, other)
        and could_ever_start(snapshot, other.name)
    ]


def refusals(snapshot: Snapshot, run: Run) -> list[str]:
    """The codes for which the run is refused, whatever the room."""
    machines = snapshot.fleet.machines
    codes: list[str] = []
    if machines and not {each.name for each in machines}.issuperset(run.node_selection.names):
        codes.append("NOT_SELECTED")
    if (
        machines
        and not snapshot.fleet.offerings
        and not any(in_pools(snapshot, each, run) for each in machines)
    ):
        codes.append("POOL_RESTRICTED")
    if is_uneven(run):
        codes.append("UNEVEN_SHAPE")
    return codes


def workers_of(snapshot: Snapshot, run: Run) -> int:
    """How many workers the run starts with, all or none; of an array one, an element."""
    selection = run.node_selection
    if run.array:
        return 1
    if selection.mode == "all":
        machines = [machine.name for machine in snapshot.fleet.machines]
        return sum(would_take(snapshot, name, run.name, empty=True) for name in machines)
    if run.machines:
        return run.machines
    if selection.count:
        return selection.count
    return len(selection.names) if selection.mode == "exact" and selection.names else 1


def has_room(snapshot: Snapshot, run: Run, free: Mapping[str, Room], elements: int) -> bool:
    if refusals(snapshot, run):
        return False
    want = elements * workers_of(snapshot, run)
    takes = [slots(snapshot, machine, run, free) for machine in snapshot.fleet.machines]
    if not may_share(run):
        takes = [min(1, each) for each in takes]
    return 0 < want <= sum(takes)
