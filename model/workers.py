"""What a worker gets on its host: the variables of its environment, and access to hardware.

From the rung on which its run's machines are joined: in an NVLink domain across machines an IMEX
channel; on RDMA the ports that are up and fast enough; over Ethernet no RDMA at all. A worker with
GPUs always knows which, and has room to share and lock memory.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from stowplan.model.decision import Access
from stowplan.model.fleet import Interconnect, Machine
from stowplan.model.topology import DOMAIN, FABRIC_RACK, MACHINE, RACK, RDMA, SITE, Joint

IMEX_CHANNEL = 0
"""The channel that all workers of a run in an NVLink domain share."""

_ON_RDMA, _ON_ETHERNET = range(FABRIC_RACK, RDMA + 1), range(RACK, SITE + 1)
"""Rungs."""


@dataclass(frozen=True)
class Wiring:
    """What joins the machines of a run, and which RDMA ports of theirs it uses."""

    rung: int = MACHINE
    wants_rdma: bool = False
    """Whether it asks for RDMA itself, as a run on one machine may too."""
    kind: Interconnect | None = None
    """Only ports of this kind; None: of either."""
    min_gbps: float = 0
    """Only ports that are as fast."""

    @classmethod
    def of(
        cls,
        interconnect: str | None,
        min_gbps: float | None,
        joint: Joint | None = None,
    ) -> Wiring:
        """Return the wiring of a run that asks this, on several machines or (no `joint`) on one.

        On an RDMA network its ports are those of the network's kind; `joint` is of the networks
        on which each machine has a port that is fast enough.
        """
        wants_rdma = interconnect in ("rdma", "infiniband") or bool(min_gbps)
        kind: Interconnect | None = "infiniband" if interconnect == "infiniband" else None
        if joint and joint.link and kind is None:
            kind = joint.link.kind
        return cls(joint.rung if joint else MACHINE, wants_rdma, kind, min_gbps or 0)

    def ports(self, machine: Machine) -> tuple[str, ...]:
        """Return the ports of a machine that its worker uses."""
        is_used = self.wants_rdma or self.rung in _ON_RDMA
        return _ports(machine, self.kind, self.min_gbps) if is_used else ()


def equipment(
    machine: Machine, gpus: tuple[str, ...], wiring: Wiring
) -> tuple[dict[str, str], Access | None]:
    """Return a worker's variables, and what else it gets of its machine; None: nothing."""
    ports = wiring.ports(machine)
    if not gpus:
        return {}, _access(None, ports, with_gpus=False) if ports else None
    variables = {"STOWPLAN_GPU_IDS": ",".join(gpus), "STOWPLAN_GPU_COUNT": str(len(gpus))}
    if wiring.rung in _ON_ETHERNET:
        variables["NCCL_IB_DISABLE"] = "1"
    elif ports:
        variables["NCCL_IB_HCA"] = nccl_ports(ports, [port.device for port in machine.rdma])
    imex = IMEX_CHANNEL if wiring.rung == DOMAIN else None
    return variables, _access(imex, ports, with_gpus=True)


def nccl_ports(chosen: Sequence[str], there: Sequence[str]) -> str:
    """Return the ports as NCCL_IB_HCA names them.

    NCCL takes each name for the beginning of one, unless the list begins with `=`: so mlx5_1 would
    be mlx5_10 too (NCCL's documentation of NCCL_IB_HCA).
    """
    others = set(there) - set(chosen)
    is_exact = any(other.startswith(name) for name in chosen for other in others)
    return ("=" if is_exact else "") + ",".join(chosen)


def _ports(machine: Machine, kind: Interconnect | None, least: float) -> tuple[str, ...]:
    return tuple(
        port.device
        for port in machine.rdma
        if port.state == "up" and kind in (None, port.kind) and port.rate_gbps >= least
    )


@functools.cache
def _access(imex: int | None, ports: tuple[str, ...], *, with_gpus: bool) -> Access:
    return Access(
        imex_channel=imex,
        rdma_devices=ports,
        capabilities=("IPC_LOCK",) if ports else (),
        large_shm=with_gpus,
        unlimited_memlock=with_gpus,
    )
