"""Machines that stand somewhere: in a site and a rack, on RDMA networks, in an NVLink domain."""

from __future__ import annotations

from typing import Any

from tests.build import Document, card, machine


def port(kind: str = "infiniband", gbps: int = 400, **more: Any) -> Document:
    """Return a port that is up, of 400 Gbit/s unless told otherwise."""
    return {"kind": kind, "rate_gbps": gbps, **more}


def stands(
    name: str,
    *ports: Document,
    gpus: int = 8,
    domain: str | None = None,
    site: str | None = None,
    rack: str | None = None,
    fabric: str | None = None,
    **more: Any,
) -> Document:
    """Return a machine of eight GPUs that stands there; nothing is told of the rest."""
    told = {"site": site, "rack": rack, "fabric": fabric}
    labels = {f"topology/{kind}": where for kind, where in told.items() if where is not None}
    cards = [card(nvlink_clique=domain) for _ in range(gpus)]
    return machine(name, cards, labels=labels, rdma=list(ports), **more)


def two_racks() -> list[Document]:
    """Return four machines on one InfiniBand fabric: a and b in rack r1, c and d in rack r2."""
    racks = {"a": "r1", "b": "r1", "c": "r2", "d": "r2"}
    return [stands(name, port(), rack=rack, fabric="ib-0") for name, rack in racks.items()]
