"""What a decision comes to in rungs, machines and room left: of runs on machines, as said anew."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from stowplan.model.audit import freshness
from stowplan.model.audit.places import LADDER, Place, Unit, bond
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.room import usable
from stowplan.model.fleet import Machine
from stowplan.model.runs import Run

type Circle = tuple[object, ...]
"""What all machines of a group share, and no others do."""


def rungs(plan: Plan) -> int:
    """Return how many rungs below a single machine all runs are together."""
    told = (bond(_places(plan, machines)) for _, machines in plan.gangs)
    return sum(joined.rung - 1 for joined in told if joined)


def machines(plan: Plan) -> int:
    """Return how many workers more than one all runs have; of an array each element has one."""
    return sum(len(theirs) - 1 for _, theirs in plan.gangs)


def room(plan: Plan) -> int | None:
    """Return the GPUs that all runs leave free in their groups, counted at the cycle's start.

    None where a run is in two groups of one rung, as where both kinds of network are assumed: for
    which of them it was chosen, the search alone knows.
    """
    free, left = _free(plan), 0
    for run, theirs in plan.gangs:
        rooms = {free[circle] for circle in _circles_of(plan, run, theirs)}
        if len(rooms) > 1:
            return None
        left += sum(rooms) - run.gpus.count if rooms else 0
    in_gangs = {run.name for run, _ in plan.gangs}
    for seat in plan.seats:
        if seat.run.name not in in_gangs:
            for circle in _domain(plan.places[seat.machine.name]):
                left += free[circle] - len(seat.worker.devices)
    return left


def _free(plan: Plan) -> Mapping[Circle, int]:
    """Return the free GPUs of every group that a run could be on."""
    kept = {_within(run) for run, _ in plan.gangs} | {None}
    found: dict[Circle, int] = defaultdict(int)
    for machine in plan.machines.values():
        there = _free_on(plan, machine)
        for within in kept:
            for rung in LADDER:
                for circle in _circles(plan.places[machine.name], rung, within):
                    found[circle] += there
    return found


def _free_on(plan: Plan, machine: Machine) -> int:
    """Return the GPUs free at the start; none where the machine is out of service."""
    if machine.state != "up" or freshness.stale(plan, machine):
        return 0
    held = {device for _, worker in plan.held_on.get(machine.name, ()) for device in worker.devices}
    return sum(usable(device) and device.id not in held for device in machine.devices)


def _circles_of(plan: Plan, run: Run, theirs: Sequence[Machine]) -> set[Circle]:
    """Return the groups that the run is on; none on a machine that is in no NVLink domain."""
    places = _places(plan, theirs)
    joined = bond(places)
    if joined is None:
        return set()
    if joined.rung == 1:
        return set(_domain(places[0]))
    within = _within(run)
    return set.intersection(*(set(_circles(each, joined.rung, within)) for each in places))


def _domain(place: Place) -> Iterator[Circle]:
    return _circles(place, 2, None)


def _circles(place: Place, rung: int, within: Unit | None) -> Iterator[Circle]:
    unit = place.unit(within) if within else None
    for _, key in place.circles(rung):
        yield (place.site, within, unit, rung, key)


def _within(run: Run) -> Unit | None:
    kept = run.topology.keep_within
    return None if kept == "node" else kept


def _places(plan: Plan, theirs: Sequence[Machine]) -> list[Place]:
    return [plan.places[name] for name in sorted({machine.name for machine in theirs})]
