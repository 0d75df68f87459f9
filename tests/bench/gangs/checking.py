"""Whether an answer is one: every run whole, where it may be, and no GPU taken twice.

Read off the snapshot: no rule of the solver's, nor its audit, is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.bench.gangs.ground import Spot, is_near_enough, rung_of, spots_of
from tests.bench.gangs.ladder import Room
from tests.bench.gangs.runs import Answer, Placed, cuts_of


def check(snapshot: Snapshot, answer: Answer, spots: tuple[Spot, ...] | None = None) -> None:
    """Raise AssertionError where runs can't be on these machines, all of them together."""
    problems = list(wrong(snapshot, answer, spots or spots_of(snapshot.fleet)))
    assert not problems, "; ".join(problems[:10])


def wrong(snapshot: Snapshot, answer: Answer, spots: tuple[Spot, ...]) -> Iterator[str]:
    """Yield what is wrong with an answer: `run: what`."""
    index = {machine.name: number for number, machine in enumerate(snapshot.fleet.machines)}
    runs = {run.name: run for run in snapshot.runs if run.state == "pending"}
    taken: Counter[str] = Counter()
    sound: Counter[str] = Counter()
    for name, placed in answer.items():
        run = runs[name]
        for broken in _broken(run, placed, [spots[index[host]] for host in placed.hosts]):
            yield f"{name}: {broken}"
        for host in placed.hosts:
            each = run.gpus.count // len(placed.hosts)
            taken[host] += each
            sound[host] += each if run.gpus.healthy_only else 0
    room = Room.of(snapshot)
    for host, gpus in taken.items():
        if gpus > room.free[index[host]]:
            yield f"{host}: {gpus} GPUs taken, {room.free[index[host]]} free"
        if sound[host] > room.sound[index[host]]:
            yield f"{host}: {sound[host]} sound GPUs taken, {room.sound[index[host]]} free"


def _broken(run: Run, placed: Placed, spots: list[Spot]) -> Iterator[str]:
    workers = len(placed.hosts)
    if workers not in [count for count, _ in cuts_of(run)]:
        yield f"{workers} workers"
    if not all(spot.may_host(run) for spot in spots):
        yield "a machine that it may not use"
    if len(set(placed.hosts)) < workers:
        yield "two workers on one machine"
    rung = rung_of(spots)
    if rung is None:
        yield "several sites"
    elif placed.rung != rung:
        yield f"on rung {rung}, said to be on {placed.rung}"
    if workers > 1:
        keep = run.topology.keep_within
        units = {spot.unit_of(keep) for spot in spots}
        if keep == "node" or None in units or len(units) > 1:
            yield f"leaves its {keep}"
        if not is_near_enough(run, spots):
            yield f"not joined by {run.network.interconnect}"
