"""One seed's measurement, in a process of its own: our decision, and the ladder's beside it.

`python -m tests.bench.gangs.measure JSON` prints it as the last line, which is JSON too. The clock
starts at a loaded snapshot and stops at a decision: model, search, explanations and audit count.
The memory is the most that the process held until then, with the snapshot.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self

import stowplan
from stowplan.model.decision import Decision
from stowplan.model.snapshot import Snapshot
from stowplan.solver.settings import Settings
from tests.bench.gangs.bound import bounds
from tests.bench.gangs.checking import check
from tests.bench.gangs.instance import gangs
from tests.bench.gangs.ladder import ladder
from tests.bench.gangs.runs import Answer, is_gang, placed_by, weight_by_tier

OURS, LADDER = "stowplan", "ladder"


class Size(NamedTuple):
    """How large an instance is."""

    machines: int = 1250
    racks: int = 40
    fabrics: int = 8
    singles: int = 2200
    gangs: int = 50


@dataclass(frozen=True)
class Way:
    """What one way comes to."""

    name: str
    seconds: float
    weights: tuple[int, ...]
    """In eighths of a GPU that a new run asks for, of each priority, the highest first."""
    gpus: int
    rungs: dict[str, int]
    """The rung of every gang that is placed."""
    workers: dict[str, int]
    """How many workers it has."""
    place_s: float | None = None
    place_gap: float | None = None
    rung_gap: float | None = None
    status: str = ""
    limit: str = ""
    """What ended the search before its proof."""
    peak_mib: float | None = None

    @property
    def weight(self) -> int:
        """Return the weight of all priorities together."""
        return sum(self.weights)


@dataclass(frozen=True)
class Measured:
    """One seed."""

    seed: int
    size: Size
    gpus_free: int
    gpus_asked: int
    by_gangs: int
    """Of the GPUs asked for."""
    ways: tuple[Way, ...]
    bounds: tuple[int, ...]
    """No decision places more of a priority, given what ours places of those above."""

    @classmethod
    def read(cls, told: dict[str, Any]) -> Self:
        """Return what `asdict` wrote."""
        ways = tuple(Way(**(way | {"weights": tuple(way["weights"])})) for way in told["ways"])
        rest = {"ways": ways, "size": Size(*told["size"]), "bounds": tuple(told["bounds"])}
        return cls(**(told | rest))

    @property
    def bound_gap(self) -> float:
        """Return how far the first way is from the bound."""
        return 1 - self.ways[0].weight / max(1, sum(self.bounds))


def measured(seed: int, size: Size, time_limit_s: float | None = None) -> Measured:
    """Return the measurement made in a fresh process."""
    asked = json.dumps({"seed": seed, "size": size, "time_limit_s": time_limit_s})
    command = [sys.executable, "-m", "tests.bench.gangs.measure", asked]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return Measured.read(json.loads(done.stdout.splitlines()[-1]))  # HiGHS talks before


def measure(
    snapshot: Snapshot, seed: int, size: Size, time_limit_s: float | None = None
) -> Measured:
    """Return what both ways make of a snapshot; each answer is checked machine by machine."""
    ours = _ours(snapshot, time_limit_s)
    began = time.perf_counter()
    answer = ladder(snapshot)
    theirs = _way(LADDER, snapshot, answer, time.perf_counter() - began)
    proven = bounds(snapshot, ours["weights"])
    for weight, most in zip(ours["weights"], proven, strict=True):
        assert weight <= most, f"places {weight}, and {most} was proven to be the most"
    waiting = [run for run in snapshot.runs if run.state == "pending"]
    held = sum(len(w.devices) for run in snapshot.runs if run.placed for w in run.placed.workers)
    return Measured(
        seed=seed,
        size=size,
        gpus_free=sum(len(machine.devices) for machine in snapshot.fleet.machines) - held,
        gpus_asked=sum(run.gpus.count for run in waiting),
        by_gangs=sum(run.gpus.count for run in waiting if is_gang(run)),
        ways=(Way(**ours), Way(**theirs)),
        bounds=proven,
    )


def _ours(snapshot: Snapshot, time_limit_s: float | None) -> dict[str, Any]:
    settings = Settings.of(snapshot, time_limit_s=time_limit_s)
    began = time.perf_counter()
    decision = stowplan.solve(snapshot, settings)
    took = time.perf_counter() - began
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    account = decision.solver
    place = account.stages[0]
    told = _way(OURS, snapshot, placed_by(decision), took)
    weight = sum(told["weights"])
    assert place.objective == weight, f"stage place says {place.objective}, its runs weigh {weight}"
    return told | {
        "place_s": place.wall_s,
        "place_gap": place.gap,
        "rung_gap": _gap(decision, "rung"),
        "status": account.status,
        "limit": account.limit_hit or "",
        "peak_mib": peak_mib,
    }


def _gap(decision: Decision, stage: str) -> float | None:
    return next((each.gap for each in decision.solver.stages if each.name == stage), None)


def _way(name: str, snapshot: Snapshot, answer: Answer, seconds: float) -> dict[str, Any]:
    check(snapshot, answer)
    runs = {run.name: run for run in snapshot.runs}
    placed = {run: where for run, where in answer.items() if is_gang(runs[run])}
    return {
        "name": name,
        "seconds": seconds,
        "weights": weight_by_tier(snapshot, answer),
        "gpus": sum(runs[run].gpus.count for run in answer),
        "rungs": {run: where.rung for run, where in placed.items()},
        "workers": {run: len(where.hosts) for run, where in placed.items()},
    }


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    size = Size(*asked["size"])
    machines, racks, fabrics, singles, many = size
    built = gangs(
        asked["seed"], machines=machines, racks=racks, fabrics=fabrics, singles=singles, many=many
    )
    print(json.dumps(asdict(measure(built, asked["seed"], size, asked["time_limit_s"]))))
