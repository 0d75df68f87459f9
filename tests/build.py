"""Small snapshots and the decisions on them, each written in a line."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stowplan.model.audit import audit
from stowplan.model.audit.places import Bond, bond, places_of
from stowplan.model.decision import (
    ArrayCount,
    ChosenShape,
    Decision,
    ModelSize,
    Outcome,
    PlacedRun,
    RefusedRun,
    Scores,
    SolverAccount,
    StayingRun,
    Summary,
    WaitingRun,
    Worker,
)
from stowplan.model.fleet import Machine
from stowplan.model.holds import holding, is_superseded, stay_of
from stowplan.model.reasons import Code, Reason
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from stowplan.model.topology import Joint, spots_of
from stowplan.model.workers import Wiring, equipment

type Document = dict[str, Any]  # Any: what a YAML file could hold
type Place = tuple[str, int | Sequence[str]] | tuple[str, int | Sequence[str], int]
"""A host, its GPUs (so many of its first ones, or their ids), and an array's element."""

_NOW = dt.datetime(2026, 9, 21, 6, 0, tzinfo=dt.UTC)
_INSTANCE = Machine(name="instance", devices=())
GIB = 2**30
SHAPING = {"machines", "node_selection", "topology", "array", "placed"}
"""What says, or may say, how many workers a run has."""


def after(seconds: float) -> str:
    """Return the time so many seconds after the snapshot's `now`."""
    return (_NOW + dt.timedelta(seconds=seconds)).isoformat()


def card(**more: Any) -> Document:
    """Return a GPU: a healthy H100, unless told otherwise."""
    usual = {"model": "NVIDIA H100 80GB HBM3", "vendor": "nvidia", "memory_mib": 81559}
    return usual | more


def machine(name: str, gpus: int | Sequence[Document] = 0, **more: Any) -> Document:
    """Return a machine of 64 cores and 256 GiB; its GPUs are `name/0`, `name/1` ..."""
    cards = [card() for _ in range(gpus)] if isinstance(gpus, int) else list(gpus)
    usual = {"name": name, "cpu_cores": 64, "memory_bytes": 256 * GIB, "devices": cards}
    return usual | more


def run(name: str, gpus: int | Document = 0, **more: Any) -> Document:
    """Return a pending run of so many GPUs, or of such GPUs; on one machine, unless told more."""
    asked: Document = {"count": gpus} if isinstance(gpus, int) else gpus
    count = asked.get("count") or len(asked.get("ids", ()))
    whole = {"machines": 1} if count > 1 and not SHAPING & more.keys() else {}
    return {"name": name, "gpus": asked, **whole, **more}


def running(name: str, *places: Place, **more: Any) -> Document:
    """Return a run that runs on these places."""
    workers = [_worker(index, place) for index, place in enumerate(places)]
    taken = sum(len(worker.devices) for worker in workers)
    fields = {"host", "devices", "element"}
    placed = {"workers": [w.model_dump(include=fields, exclude_none=True) for w in workers]}
    if "generation" in more:
        placed["generation"] = more.pop("generation")
    return {"name": name, "gpus": {"count": taken}, "state": "running", "placed": placed} | more


def snapshot(
    machines: Sequence[Document], runs: Sequence[Document], *, policy: Any = None, **fleet: Any
) -> Snapshot:
    """Return the snapshot of a fleet and its runs; more of the fleet by name."""
    return Snapshot.read(
        {
            "now": after(0),
            "fleet": {"machines": list(machines), **fleet},
            "runs": list(runs),
            "policy": policy or {},
        }
    )


def offering(name: str, rate: str = "1", gpus: int = 8, **more: Any) -> Document:
    """Return an offering that starts at once, is billed to the second and ends at once."""
    usual = {
        "name": name,
        "provider": "acme",
        "region": "east",
        "accelerator": {
            "model": "NVIDIA H100 SXM",
            "family": "hopper",
            "vendor": "nvidia",
            "memory_gb": 80,
            "count": gpus,
        },
        "cpu_cores": 64,
        "memory_bytes": 2**38,
        "rate_usd_per_hour": rate,
        "available": 1,
        "billing": {"increment_s": 1, "minimum_s": 0, "starts": "creation"},
        "startup": {"boot_p50_s": 0, "boot_p90_s": 0, "warm_s": 0},
        "teardown_s": 0,
    }
    return usual | more


def wants(name: str, gpus: int = 1, **placement: Any) -> Document:
    """Return a run of an hour; p90 an hour and a quarter."""
    return run(name, gpus, expected_duration_s=3600) | {"placement": placement}


def market(*offerings: Document, runs: list[Document], **more: Any) -> Snapshot:
    """Return the snapshot of these offerings and runs, without machines unless they are given."""
    return snapshot(more.pop("machines", []), runs, offerings=offerings, **more)


def decided(
    snapshot: Snapshot,
    places: Mapping[str, Sequence[Place]] | None = None,
    refused: Mapping[str, Code] | None = None,
) -> Decision:
    """Return the decision that starts these runs there, refuses these, and no other pending run."""
    places, refused = places or {}, refused or {}
    outcomes = [
        _outcome(snapshot, run, places.get(run.name), refused.get(run.name))
        for run in snapshot.runs
    ]
    return resolved(snapshot, outcomes)


def waiting(snapshot: Snapshot, run: str) -> WaitingRun:
    """Return the outcome of a run that waits."""
    return WaitingRun(
        run=run,
        reason=Reason.of(Code.OUTCOMPETED, "the room went to others"),
        hosts_checked=0,
        hosts_ready=0,
        hosts_down=0,
        evaluated_at=snapshot.now,
    )


def resolved(snapshot: Snapshot, outcomes: Sequence[Outcome]) -> Decision:
    """Return the decision of these outcomes, rightly summed up."""
    counts: dict[str, Any] = Counter(outcome.outcome for outcome in outcomes)
    started = [outcome for outcome in outcomes if isinstance(outcome, PlacedRun)]
    gpus = sum(len(worker.devices) for outcome in started for worker in outcome.workers)
    return Decision(
        cycle="c-0",
        snapshot=snapshot.name,
        now=snapshot.now,
        summary=Summary(**counts, gpus_placed=gpus),
        outcomes=tuple(outcomes),
        solver=SolverAccount(
            status="OPTIMAL",
            stages=(),
            model=ModelSize(variables=0, constraints=0, by_rule={}),
            seed=1,
            version="none",
        ),
        generation=snapshot.fleet.generation,
    )


def altered(snapshot: Snapshot, decision: Decision, run: str, **fields: Any) -> Decision:
    """Return the decision with some fields of one run's outcome changed, summed up again."""
    return resolved(
        snapshot,
        [
            outcome.model_copy(update=fields) if outcome.run == run else outcome
            for outcome in decision.outcomes
        ],
    )


def broken(snapshot: Snapshot, decision: Decision) -> set[str]:
    """Return the names of the rules that the decision breaks."""
    return {violation.rule for violation in audit(snapshot, decision)}


def _outcome(
    snapshot: Snapshot, run: Run, places: Sequence[Place] | None, refused: Code | None
) -> Outcome:
    count = _count(snapshot, run, len(places or ()))
    if places is not None:
        lowest = iter(_left(snapshot, run))
        numbered = [
            (*place, next(lowest, 0)) if run.array and len(place) == 2 else place
            for place in places
        ]
        bare = [_worker(index, place) for index, place in enumerate(numbered)]
        workers = tuple(equipped(snapshot, run, bare))
        joined = _joined(snapshot, run, {worker.host for worker in workers})
        return PlacedRun(
            run=run.name,
            shape=_shape(snapshot, run, workers),
            rung=joined.rung if joined else None,
            group=joined.group if joined and not run.array else None,
            workers=workers,
            profile="balanced",
            scores=Scores(
                fit=0,
                time_to_result=0,
                cost_to_complete=0,
                recovery_value=0,
                health=1,
                points=0,
            ),
            array=count,
        )
    if refused:
        return RefusedRun(run=run.name, reason=Reason.of(refused, "no change of the fleet helps"))
    if run.state != "pending" or (run.placed and run.placed.workers):
        before = run.placed.workers if run.placed else ()
        stay = stay_of(run, snapshot)
        workers = tuple(
            Worker(index=i, host=w.host, devices=w.devices, element=w.element)
            for i, w in enumerate(before)
        )
        return StayingRun(
            run=run.name, outcome=stay.outcome, reason=stay.reason, workers=workers, array=count
        )
    return waiting(snapshot, run.name).model_copy(update={"array": count})


def _joined(snapshot: Snapshot, run: Run, hosts: set[str]) -> Bond | None:
    """Return how the machines are joined: not where some are none, nor of elements apart."""
    places = places_of(snapshot, run.network.min_gbps or 0)
    if not hosts or not hosts <= places.keys() or (run.array and len(hosts) > 1):
        return None
    return bond([places[host] for host in hosts])


def equipped(snapshot: Snapshot, run: Run, workers: Sequence[Worker]) -> Iterator[Worker]:
    """Yield the workers with what they get where they are; where that is no host, with nothing."""
    asked = None if run.network.interconnect == "auto" else run.network.interconnect
    hosts = sorted({worker.host for worker in workers})
    joint = _joint(snapshot, run, hosts)
    wiring = Wiring.of(asked, run.network.min_gbps, joint)
    for worker in workers:
        machine = snapshot.machines.get(worker.host, _INSTANCE)
        environment, access = equipment(machine, worker.devices, wiring)
        yield worker.model_copy(update={"environment": environment, "access": access})


def _shape(snapshot: Snapshot, run: Run, workers: Sequence[Worker]) -> ChosenShape:
    each = len(workers[0].devices) if workers else 0
    hosts = sorted({worker.host for worker in workers})
    joint = _joint(snapshot, run, hosts)
    words = [
        f"{len(hosts):,} machine{'s' if len(hosts) > 1 else ''}",
        f"x {each:,} GPU{'s' if each > 1 else ''}" if each else "x 1 worker",
        joint.words if joint else "",
    ]
    tasks = 1 if run.array else len(workers)
    return ChosenShape(tasks=tasks, gpus_each=each, why=" ".join(words).strip())


def _joint(snapshot: Snapshot, run: Run, hosts: Sequence[str]) -> Joint | None:
    """Return what joins the machines of a run on several; None where some are none."""
    if run.array or len(hosts) < 2 or not snapshot.machines.keys() >= set(hosts):
        return None
    spots = spots_of(snapshot, run.network.min_gbps or 0)
    return Joint.of([spots[host] for host in hosts])


def _count(snapshot: Snapshot, run: Run, placed: int) -> ArrayCount | None:
    if run.array is None or run.state == "stopped" or is_superseded(run, snapshot):
        return None
    held = sum(holder.name == run.name for holder, _ in holding(snapshot))
    left = len(_left(snapshot, run))
    return ArrayCount(running=held, placed=placed, waiting=left - placed)


def _left(snapshot: Snapshot, run: Run) -> list[int]:
    if run.array is None:
        return []
    held = {worker.element for holder, worker in holding(snapshot) if holder.name == run.name}
    return [e for e in range(run.array.size) if e not in held and e not in run.array.finished]


def _worker(index: int, place: Place) -> Worker:
    host, gpus = place[0], place[1]
    ids = [f"{host}/{n}" for n in range(gpus)] if isinstance(gpus, int) else gpus
    element = place[2] if len(place) == 3 else None
    return Worker(index=index, host=host, devices=tuple(ids), element=element)
