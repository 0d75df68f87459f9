"""The GPU machines of the openb trace, stood in racks and fabrics that a seed draws.

The trace says nothing of where its machines stand. Here machines alike stand together: by GPUs,
then by model, in racks of 16 to 32, and these in fabrics of 4 to 8 racks. Machines of 4 and of 8
GPUs have an InfiniBand port of 400 Gbps, the small ones Ethernet only.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from stowplan.model.fleet import Fleet
from tests.bench.instances.openb import CARD_MIB, Node

RACK = (16, 32)
FABRIC = (4, 8)
"""Racks."""
LEAST_GPUS = 4
"""Of a machine that has InfiniBand."""


def fleet(nodes: Sequence[Node], seed: int, many: int | None = None) -> Fleet:
    """Return the machines, or so many of them, with their labels and ports."""
    draw = random.Random(seed)
    if many is not None:
        nodes = draw.sample(nodes, many)
    together = sorted(nodes, key=lambda node: (-node.gpus, node.model, node.name))
    machines = []
    for rack, inside in enumerate(_parts(together, RACK, draw)):
        machines.append((f"rack-{rack:02}", inside))
    stood = []
    for fabric, racks in enumerate(_parts(machines, FABRIC, draw)):
        for rack_name, inside in racks:
            stood += [_machine(node, rack_name, f"fabric-{fabric}") for node in inside]
    return Fleet.model_validate({"machines": stood})


def _parts[T](
    things: Sequence[T], size: tuple[int, int], draw: random.Random
) -> Iterator[Sequence[T]]:
    """Cut things into parts of so many, the last one as it comes."""
    begin = 0
    while begin < len(things):
        end = begin + draw.randint(*size)
        yield things[begin:end]
        begin = end


def _machine(node: Node, rack: str, fabric: str) -> dict[str, object]:
    has_port = node.gpus >= LEAST_GPUS
    port = {"count": 1, "kind": "infiniband", "rate_gbps": 400}
    return {
        "name": node.name,
        "labels": {"topology/rack": rack} | ({"topology/fabric": fabric} if has_port else {}),
        "cpu_cores": node.millicores / 1000,
        "memory_bytes": node.memory_mib * 2**20,
        "devices": {"count": node.gpus, "model": node.model, "memory_mib": CARD_MIB},
        "rdma": port if has_port else [],
    }
