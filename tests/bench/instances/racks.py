"""A cluster of racks and fabrics, more than half in use, with runs in three priorities."""

from __future__ import annotations

import datetime as dt
import math
import random
from dataclasses import dataclass
from typing import Any

from stowplan.model.snapshot import Snapshot

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
AGEING_S = 21600
GPUS = 8
CARD = {"model": "NVIDIA H100 80GB HBM3", "vendor": "nvidia", "memory_mib": 81559}
BUSY = (0, 0, 0, 1, 2, 4, 4, 5, 6, 7, 8, 8, 8, 8, 8)
PER_GPU = {"cpu_cores": 12, "memory_bytes": 128 * 2**30}


@dataclass(frozen=True)
class Kind:
    """Runs that ask the same and have waited as long."""

    gpus: int
    priority: int
    waited_s: int
    labels: dict[str, str]
    healthy_only: bool


def snapshot(
    machines: int = 1250,
    racks: int = 40,
    fabrics: int = 8,
    runs: int = 2239,
    seed: int = 1,
    kinds: int = 50,
) -> Snapshot:
    """Return the cluster with this many machines of eight GPUs, and so many runs that wait."""
    return Snapshot.read(document(machines, racks, fabrics, runs, seed, kinds))


def document(
    machines: int, racks: int, fabrics: int, runs: int, seed: int, kinds: int = 50
) -> dict[str, Any]:
    """Return the same as a document."""
    fleet, ahead = random.Random(seed), random.Random(seed + 1000)
    hosts: list[dict[str, Any]] = []  # Any: a document
    running: list[dict[str, Any]] = []
    for number in range(machines):
        rack = number * racks // machines
        place = number - math.ceil(rack * machines / racks)
        busy = fleet.choice(BUSY)
        at_risk = fleet.choice([1, 1, 2]) if busy < GPUS and fleet.random() < 0.1 else 0
        name = f"r{rack:03}-{place:02}"
        hosts.append(_machine(name, rack, place, racks, fabrics, at_risk))
        if busy:
            running.append(_running(name, busy))
    asking = [_kind(racks, fabrics, ahead) for _ in range(kinds)]
    pending = [_run(f"run-{number:05}", ahead.choice(asking)) for number in range(runs)]
    return {
        "name": f"racks-{machines}",
        "now": NOW.isoformat(),
        "fleet": {"machines": hosts},
        "runs": running + pending,
        "policy": {"ageing_s": AGEING_S},
    }


def _machine(
    name: str, rack: int, place: int, racks: int, fabrics: int, at_risk: int
) -> dict[str, Any]:
    """Return a machine; of the last four racks two have no fabric, and two no RDMA either.

    In every third rack the first 24 machines are NVLink domains of eight. GPUs at risk are the last
    ones of a machine, which no run holds.
    """
    has_rdma, has_fabric = rack < racks - 2, rack < racks - 4
    labels = {"topology/rack": _rack(rack)}
    if has_fabric:
        labels["topology/fabric"] = _fabric(rack * fabrics // racks)
    card: dict[str, Any] = dict(CARD)
    if has_rdma and rack % 3 == 0 and place < 24:
        card["nvlink_clique"] = f"r{rack:03}-{place // 8}"
    unsound = {"health": "at_risk", "signs": ["row_remap_pending"]}
    devices = [card | (unsound if index >= GPUS - at_risk else {}) for index in range(GPUS)]
    return {
        "name": name,
        "labels": labels,
        "cpu_cores": 192,
        "memory_bytes": 2 * 2**40,
        "devices": devices if at_risk else {"count": GPUS, **card},
        "rdma": {"count": 1, "kind": "roce", "rate_gbps": 400} if has_rdma else [],
    }


def _running(host: str, gpus: int) -> dict[str, Any]:
    held = [f"{host}/{index}" for index in range(gpus)]
    return {
        "name": f"on-{host}",
        "state": "running",
        "machines": 1,
        "gpus": {"count": gpus},
        "per_gpu": PER_GPU,
        "placed": {"workers": [{"host": host, "devices": held}]},
    }


def _kind(racks: int, fabrics: int, rng: random.Random) -> Kind:
    """Draw a kind: half are pinned, to a rack or a fabric."""
    gpus = rng.choices([1, 2, 4, 8], [6, 3, 3, 2])[0]
    waited_s = rng.randint(0, AGEING_S)
    labels = {}
    pinned = rng.choices([None, "rack", "fabric"], [0.5, 0.25, 0.25])[0]
    if pinned == "rack":
        labels["topology/rack"] = _rack(rng.randrange(racks))
    elif pinned == "fabric":
        labels["topology/fabric"] = _fabric(rng.randrange(fabrics - 1))
    priority = rng.choices([2, 1, 0], [0.15, 0.35, 0.5])[0]
    return Kind(gpus, priority, waited_s, labels, rng.random() < 0.1)


def _run(name: str, kind: Kind) -> dict[str, Any]:
    return {
        "name": name,
        "machines": 1,
        "priority": kind.priority,
        "submitted_at": (NOW - dt.timedelta(seconds=kind.waited_s)).isoformat(),
        "gpus": {"count": kind.gpus, "healthy_only": kind.healthy_only},
        "per_gpu": PER_GPU,
        "node_selection": {"match_labels": kind.labels},
    }


def _rack(number: int) -> str:
    return f"rack-{number:03}"


def _fabric(number: int) -> str:
    return f"fabric-{number:02}"
