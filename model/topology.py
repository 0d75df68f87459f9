"""Where a machine stands: its site, rack and fabric, and the NVLink domains of its GPUs."""

from __future__ import annotations

from stowplan.model.fleet import Machine


def site_of(machine: Machine, prefix: str) -> str | None:
    """Return the site: the label, else the machine's network."""
    return machine.labels.get(f"{prefix}site", machine.network)


def rack_of(machine: Machine, prefix: str) -> str | None:
    """Return the rack, by its label."""
    return machine.labels.get(f"{prefix}rack")


def fabric_of(machine: Machine, prefix: str) -> str | None:
    """Return the fabric: the label, else the InfiniBand subnet that its ports report."""
    label = machine.labels.get(f"{prefix}fabric")
    if label is not None:
        return label
    subnets = (port.subnet for port in machine.rdma if port.kind == "infiniband")
    return next((subnet for subnet in subnets if subnet), None)


def cliques_of(machine: Machine) -> frozenset[str]:
    """Return the NVLink domains that its GPUs report."""
    return frozenset(device.nvlink_clique for device in machine.devices if device.nvlink_clique)


def has_rdma(machine: Machine) -> bool:
    """Whether an RDMA port of the machine is up."""
    return any(port.state == "up" for port in machine.rdma)


def are_near(one: Machine, other: Machine, prefix: str) -> bool:
    """Whether two machines share a rack, a fabric or an NVLink domain."""
    for place in (rack_of, fabric_of):
        here = place(one, prefix)
        if here is not None and here == place(other, prefix):
            return True
    return bool(cliques_of(one) & cliques_of(other))
