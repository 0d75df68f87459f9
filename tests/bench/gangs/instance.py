"""Racks and fabrics, more than half in use, with runs on one machine and gangs that wait.

The fleet and the runs on one machine are those of `tests.bench.instances.racks`, but that the
fabrics are of InfiniBand, and that two racks have NVLink domains of eight machines, no others. A
gang asks for 16 to 256 GPUs.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Mapping, Sequence
from typing import Any

from stowplan.model.snapshot import Snapshot
from tests.bench.instances.racks import AGEING_S, NOW, PER_GPU, document

SIZES = {16: 30, 24: 5, 32: 25, 48: 5, 64: 20, 128: 10, 256: 5}
"""GPUs of a gang, each with its share in a hundred."""
IN_A_RACK = 64
"""The most GPUs that a gang asks for within one rack."""

type Document = dict[str, Any]  # Any: what a document holds


def gangs(
    seed: int,
    *,
    machines: int = 1250,
    racks: int = 40,
    fabrics: int = 8,
    singles: int = 2200,
    many: int = 50,
    sizes: Mapping[int, int] = SIZES,
) -> Snapshot:
    """Return the cluster with so many runs of one worker that wait, and so many gangs."""
    asked = document(machines, racks, fabrics, singles, seed)
    _infiniband(asked["fleet"]["machines"], kept=(0, 3 * (racks // 6)))
    draw = random.Random(seed + 2000)
    asked["name"] = f"gangs-{machines}"
    asked["runs"] += [_gang(number, draw, sizes) for number in range(many)]
    return Snapshot.read(asked)


def _infiniband(machines: Sequence[Document], kept: tuple[int, int]) -> None:
    """Make the ports InfiniBand, and keep the NVLink domains of two racks."""
    racks = [f"rack-{number:03}" for number in kept]
    for machine in machines:
        if machine["rdma"]:
            machine["rdma"]["kind"] = "infiniband"
        if machine["labels"]["topology/rack"] not in racks:
            devices = machine["devices"]
            for card in devices if isinstance(devices, list) else [devices]:
                card.pop("nvlink_clique", None)


def _gang(number: int, draw: random.Random, sizes: Mapping[int, int]) -> Document:
    gpus = draw.choices(list(sizes), list(sizes.values()))[0]
    waited = dt.timedelta(seconds=draw.randint(0, AGEING_S))
    run: Document = {
        "name": f"gang-{number:03}",
        "priority": draw.choices([2, 1, 0], [0.15, 0.35, 0.5])[0],
        "submitted_at": (NOW - waited).isoformat(),
        "gpus": {"count": gpus},
        "per_gpu": PER_GPU,
    }
    for field, value in _rule(gpus, draw).items():
        run[field] = {**run.get(field, {}), **value} if isinstance(value, dict) else value
    return run


def _rule(gpus: int, draw: random.Random) -> Document:
    """Draw what a gang says of its shape, or of how near its workers must be."""
    rules: list[Document] = [
        {},
        {},
        {"gpus": {"min_per_machine": 8}},
        {"gpus": {"min_per_machine": 8}},
        {"machines": gpus // draw.choice([4, 8])},
        {"topology": {"keep_within": "fabric"}},
        {"network": {"interconnect": "infiniband"}},
    ]
    if gpus <= IN_A_RACK:
        rules.append({"topology": {"keep_within": "rack"}})
    return draw.choice(rules)
