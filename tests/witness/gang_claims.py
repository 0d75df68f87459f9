"""Every untrue word about the shape, rung and group of a placed run, and every rule it breaks."""

from __future__ import annotations

import math
from collections.abc import Iterator

from stowplan.model.decision import Decision, PlacedRun, RefusedRun, WaitingRun
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.witness.asked import run_named
from tests.witness.gangs import Ground
from tests.witness.ladder import group_of, rung_of
from tests.witness.machines import machine_named, usable
from tests.witness.shapes import codes_of_refusal, worker_of


def gang_lies(snapshot: Snapshot, decision: Decision) -> list[str]:
    """Return what is untrue or unlawful, a sentence each; nothing where all is well."""
    ground, told = Ground(snapshot), []
    for outcome in decision.outcomes:
        run = run_named(snapshot, outcome.run)
        if isinstance(outcome, PlacedRun):
            told += [f"{run.name} {lie}" for lie in _of_placed(ground, run, outcome)]
        codes = codes_of_refusal(snapshot, run)
        if isinstance(outcome, WaitingRun) and codes:
            told.append(f"{run.name} waits, and must be refused: {codes}")
        if isinstance(outcome, WaitingRun) and outcome.reason.code == "PATIENCE":
            told += [f"{run.name} {lie}" for lie in _of_patience(ground, run, outcome)]
        if isinstance(outcome, RefusedRun) and str(outcome.reason.code) not in codes:
            told.append(f"{run.name} is refused by {outcome.reason.code}, and {codes} is so")
    return told


def _of_placed(ground: Ground, run: Run, outcome: PlacedRun) -> Iterator[str]:
    hosts = sorted(worker.host for worker in outcome.workers)
    each = {len(worker.devices) for worker in outcome.workers}
    cut = (outcome.shape.tasks, outcome.shape.gpus_each)
    if {cut} != {(len(hosts), gpus) for gpus in each}:
        yield f"is said to be cut {cut}, and has {len(hosts)} workers with {each} GPUs"
    if broken := ground.broken(run, max(each), hosts):
        yield f"is on {hosts} with {each} GPUs each, and breaks {broken}"
        return
    level, group = rung_of(ground.spots(run, hosts)), group_of(ground.seen(run), run, hosts)
    if (outcome.rung, outcome.group) != (level, group.name):
        yield f"is said to be on {outcome.rung} {outcome.group}, not {level} {group.name}"
    if ground.is_patient(run) and level != ground.tightest(run):
        yield f"is patient, and on rung {level} instead of {ground.tightest(run)}"
    yield from _of_devices(ground, run, outcome)


def _of_patience(ground: Ground, run: Run, outcome: WaitingRun) -> Iterator[str]:
    waited = (ground.snapshot.now - (run.submitted_at or ground.snapshot.now)).total_seconds()
    left, told = math.ceil(run.topology.patience_s - waited), outcome.reason.numbers
    if left <= 0 or told["seconds"] != left or f"for {left:,} s more" not in outcome.reason.message:
        yield f"is said to be patient for {told['seconds']} s more, not {left}"
    if told["tightest"] != ground.tightest(run):
        yield f"is said to wait for rung {told['tightest']}, not {ground.tightest(run)}"


def _of_devices(ground: Ground, run: Run, outcome: PlacedRun) -> Iterator[str]:
    given = [(worker.host, id) for worker in outcome.workers for id in worker.devices]
    if len(set(given)) < len(given):
        yield f"has a GPU twice: {given}"
    for worker in outcome.workers:
        machine, one = machine_named(ground.snapshot, worker.host), len(worker.devices)
        if strange := {*worker.devices} - usable(
            machine, worker_of(run, one), ground.start[machine.name]
        ):
            yield f"has the GPUs {strange} of {machine.name}, which won't do or aren't free"
