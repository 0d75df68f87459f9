"""Machines of which each has other GPUs, cores and memory free, and runs that need all three."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass
from typing import Any, Literal

from stowplan.model.snapshot import Snapshot

type Variant = Literal["exp2", "tight"]

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
GIB = 2**30
AGEING_S = 21600
GPUS = 8
WAITED = {1: 0, 2: 1, 4: 3}
"""A run's weight as a multiple of a new run's, by how often `ageing_s` it has waited."""


@dataclass(frozen=True)
class Kind:
    """Runs that ask the same and have waited as long."""

    gpus: int
    cores: int
    memory_gib: int
    factor: int


@dataclass(frozen=True)
class Build:
    """A machine's cores and memory, what each busy GPU takes of them, and others' share at most."""

    cores: int
    memory_gib: int
    memory_each: tuple[int, ...]
    other_cores: int
    other_memory: int


BUILDS: dict[Variant, Build] = {
    "exp2": Build(96, 1024, (64, 100, 128), 8, 0),
    "tight": Build(80, 640, (48, 64, 90), 16, 60),
}


def snapshot(
    variant: Variant = "exp2", seed: int = 0, machines: int = 1250, kinds: int = 50
) -> Snapshot:
    """Return machines in use to different parts, and runs for 1.1 times the GPUs that are free."""
    rng = random.Random(seed)
    hosts: list[dict[str, Any]] = []  # Any: a document
    runs: list[dict[str, Any]] = []
    free = 0
    for number in range(machines):
        busy = rng.choice([0, 0, *range(1, GPUS + 1)])
        host, running = _in_use(f"gpu-{number:05}", busy, BUILDS[variant], rng)
        hosts.append(host)
        runs += running
        free += GPUS - busy
    asking = []
    for _ in range(kinds):
        gpus = rng.choices([1, 2, 4, 8], [6, 3, 3, 2])[0]
        cores, memory = gpus * rng.choice([4, 8, 12]), gpus * rng.choice([32, 64, 128])
        asking.append(Kind(gpus, cores, memory, rng.choice([1, 1, 1, 2, 4])))
    pending = list(asking)
    asked = 0
    while asked < 1.1 * free:
        pending.append(rng.choice(asking))
        asked += pending[-1].gpus
    rng.shuffle(pending)
    runs += [_run(f"run-{number:05}", kind) for number, kind in enumerate(pending)]
    return Snapshot.read(
        {
            "name": f"irregular-{variant}-{machines}",
            "now": NOW.isoformat(),
            "fleet": {"machines": hosts},
            "runs": runs,
            "policy": {"ageing_s": AGEING_S},
        }
    )


def _in_use(
    name: str, busy: int, build: Build, rng: random.Random
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a machine, and the run that holds its busy GPUs, if any are."""
    cores = min(build.cores, busy * rng.choice([6, 8, 12]))
    others_cores = min(build.cores - cores, rng.randint(0, build.other_cores))
    memory = min(build.memory_gib, busy * rng.choice(build.memory_each))
    others_memory = rng.randint(0, build.other_memory) if build.other_memory else 0
    others_memory = min(build.memory_gib - memory, others_memory)
    host = {
        "name": name,
        "cpu_cores": build.cores,
        "memory_bytes": build.memory_gib * GIB,
        "used": {"cpu_cores": others_cores, "memory_bytes": others_memory * GIB},
        "devices": {"count": GPUS, "model": "NVIDIA A100-SXM4-80GB", "memory_mib": 81920},
    }
    if not busy:
        return host, []
    held = [f"{name}/{index}" for index in range(busy)]
    run = {
        "name": f"on-{name}",
        "state": "running",
        "machines": 1,
        "gpus": {"count": busy},
        "cpu_cores": cores,
        "memory_bytes": memory * GIB,
        "placed": {"workers": [{"host": name, "devices": held}]},
    }
    return host, [run]


def _run(name: str, kind: Kind) -> dict[str, Any]:
    waited = dt.timedelta(seconds=AGEING_S * WAITED[kind.factor])
    return {
        "name": name,
        "machines": 1,
        "submitted_at": (NOW - waited).isoformat(),
        "gpus": {"count": kind.gpus},
        "cpu_cores": kind.cores,
        "memory_bytes": kind.memory_gib * GIB,
    }
