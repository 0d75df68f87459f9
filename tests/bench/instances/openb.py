"""The openb cluster trace (Alibaba GPU cluster trace 2023) as snapshots, read in place.

Runs that ask for a fraction of a GPU are rounded up to a whole one: we place whole GPUs.
"""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stowplan.model.snapshot import Snapshot

FOLDER = Path(__file__).parents[3] / ".." / "shared" / "data" / "openb"
CARD_MIB = 16384
"""The trace doesn't give the cards' memory, and no run asks for any."""
LOAD = 1.3
"""GPUs asked for to GPUs there are, in the published experiments."""


@dataclass(frozen=True)
class Node:
    """A machine of the trace."""

    name: str
    millicores: int
    memory_mib: int
    gpus: int
    model: str


@dataclass(frozen=True)
class Pod:
    """A run of the trace, its GPUs rounded up to whole ones."""

    name: str
    millicores: int
    memory_mib: int
    gpus: int
    models: tuple[str, ...]


def nodes(folder: Path = FOLDER) -> list[Node]:
    """Return the GPU nodes, in the order of the file."""
    with (folder / "openb_node_list_gpu_node.csv").open() as file:
        return [
            Node(
                row["sn"],
                int(row["cpu_milli"]),
                int(row["memory_mib"]),
                int(row["gpu"]),
                row["model"],
            )
            for row in csv.DictReader(file)
        ]


def pods(which: str = "default") -> list[Pod]:
    """Return the runs of one list, in the order of the file."""
    with (FOLDER / f"openb_pod_list_{which}.csv").open() as file:
        return [
            Pod(
                row["name"],
                int(row["cpu_milli"]),
                int(row["memory_mib"]),
                int(row["num_gpu"]),
                tuple(filter(None, (row.get("gpu_spec") or "").split("|"))),
            )
            for row in csv.DictReader(file)
        ]


def resampled(which: str = "default", seed: int = 42, machines: int | None = None) -> Snapshot:
    """Return the trace's nodes (the first so many) and runs drawn up to 1.3 times their GPUs.

    As in the published experiments: the list and runs drawn from it again, shuffled, cut to size.
    """
    rng = random.Random(seed)
    fleet, population = nodes()[:machines], pods(which)
    most = LOAD * sum(node.gpus for node in fleet)
    drawn = list(population)
    asked = sum(pod.gpus for pod in drawn)
    while asked < most:
        drawn.append(rng.choice(population))
        asked += drawn[-1].gpus
    rng.shuffle(drawn)
    while asked > most:
        asked -= drawn.pop().gpus
    return snapshot(fleet, list(_told_apart(drawn)))


def snapshot(machines: Sequence[Node], runs: Sequence[Pod]) -> Snapshot:
    """Return one cycle in which all the runs wait at once."""
    return Snapshot.read(
        {
            "name": f"openb-{len(machines)}x{len(runs)}",
            "now": "2026-01-01T00:00:00Z",
            "fleet": {"machines": [_machine(node) for node in machines]},
            "runs": [_run(pod) for pod in runs],
        }
    )


def _told_apart(drawn: Iterable[Pod]) -> Iterator[Pod]:
    """Give each copy of a run a name of its own."""
    times: Counter[str] = Counter()
    for pod in drawn:
        times[pod.name] += 1
        yield replace(pod, name=f"{pod.name}.{times[pod.name]}")


def _machine(node: Node) -> dict[str, object]:
    return {
        "name": node.name,
        "cpu_cores": node.millicores / 1000,
        "memory_bytes": node.memory_mib * 2**20,
        "devices": {"count": node.gpus, "model": node.model, "memory_mib": CARD_MIB},
    }


def _run(pod: Pod) -> dict[str, object]:
    return {
        "name": pod.name,
        "machines": 1,
        "cpu_cores": pod.millicores / 1000,
        "memory_bytes": pod.memory_mib * 2**20,
        "gpus": {"count": pod.gpus, "models": pod.models},
    }
