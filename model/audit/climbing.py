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

type Kept = tuple[Unit | None, float]
"""The unit that a run is kept within, and the Gbit/s that it asks of its ports."""


def rungs(plan: Plan) -> int:
    """Return how many rungs below a single machine all runs are together."""
    told = (bond(_places(plan, run, machines)) for run, machines in plan.gangs)
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
    kept = {_kept(run): plan.places_for(run) for run, _ in plan.gangs} | {(None, 0): plan.places}
    found: dict[Circle, int] = defaultdict(int)
    for machine in plan.machines.values():
        there = _free_on(plan, machine)
        for each, places in kept.items():
            for rung in LADDER:
                for circle in _circles(places[machine.name], rung, each):
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
    places = _places(plan, run, theirs)
    joined = bond(places)
    if joined is None:
        return set()
    if joined.rung == 1:
        return set(_domain(places[0]))
    kept = _kept(run)
    return set.intersection(*(set(_circles(each, joined.rung, kept)) for each in places))


def _domain(place: Place) -> Iterator[Circle]:
    return _circles(place, 2, (None, 0))


def _circles(place: Place, rung: int, kept: Kept) -> Iterator[Circle]:
    within, _ = kept
    unit = place.unit(within) if within else None
    for _, key in place.circles(rung):
        yield (place.site, kept, unit, rung, key)


def _kept(run: Run) -> Kept:
    kept = run.topology.keep_within
    return None if kept == "node" else kept, run.network.min_gbps or 0


def _places(plan: Plan, run: Run, theirs: Sequence[Machine]) -> list[Place]:
    there = plan.places_for(run)
    return [there[name] for name in sorted({machine.name for machine in theirs})]
