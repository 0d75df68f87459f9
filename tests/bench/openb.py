"""The openb cluster trace (Alibaba GPU cluster trace 2023) as snapshots, read in place.

Runs that ask for a fraction of a GPU are rounded up to a whole one: we place whole GPUs.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from stowplan.model.snapshot import Snapshot

FOLDER = Path(__file__).parents[2] / ".." / "shared" / "data" / "openb"
CARD_MIB = 16384
"""The trace doesn't give the cards' memory, and no run asks for any."""


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

    @property
    def shape(self) -> tuple[int, int, tuple[str, ...]]:
        """What the published policy tells kinds of pods apart by."""
        return (self.millicores, self.gpus, self.models)


def nodes() -> list[Node]:
    """Return the GPU nodes, in the order of the file."""
    with (FOLDER / "openb_node_list_gpu_node.csv").open() as file:
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


def snapshot(machines: list[Node], runs: list[Pod], *, time_limit_s: float = 10) -> Snapshot:
    """Return one cycle in which all the runs wait at once."""
    return Snapshot.read(
        {
            "name": f"openb-{len(machines)}x{len(runs)}",
            "now": "2026-01-01T00:00:00Z",
            "solver": {"time_limit_s": time_limit_s},
            "fleet": {"machines": [_machine(node) for node in machines]},
            "runs": [_run(pod) for pod in runs],
        }
    )


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
