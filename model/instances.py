"""What an offering stands for: instances that could start now, each of them like a machine."""

from __future__ import annotations

from collections.abc import Container, Iterator
from itertools import count, islice
from typing import NamedTuple

from stowplan.model.fleet import Device, Machine, Offering, Warm
from stowplan.model.policy import Policy


class Instances(NamedTuple):
    """How many instances of an offering can start now."""

    warm: int
    """Idle ones of yours."""
    cold: int
    """Ones to be created."""

    @property
    def number(self) -> int:
        """All of them."""
        return self.warm + self.cold


def instances_of(offering: Offering, policy: Policy) -> Instances:
    """Return how many of an offering's instances can start now.

    The idle ones are among those available. Where nobody knows how many are,
    `policy.assumed_available`, and never fewer than are idle.
    """
    warm = offering.warm.count if isinstance(offering.warm, Warm) else offering.warm
    available = offering.available
    if available is None:
        available = max(warm, policy.assumed_available)
    warm = min(warm, available)
    return Instances(warm, available - warm)


def instance_names(offering: str, number: int, taken: Container[str]) -> Iterator[str]:
    """Yield the names of so many instances, the idle ones first: `<offering>#<n>`.

    A name that a machine has already (an instance bought before) is passed over.
    """
    names = (f"{offering}#{n}" for n in count(1))
    return islice((name for name in names if name not in taken), number)


def warm_name(offering: str) -> str:
    """Return what an offering's idle instances are called together, as a host beside it."""
    return f"{offering} (warm)"


def offering_named(instance: str) -> str:
    """Return the offering that an instance's name tells."""
    return instance.rpartition("#")[0]


def as_machine(offering: Offering) -> Machine:
    """Return an instance of an offering as the machine it will be: no labels, nothing used."""
    accelerator = offering.accelerator
    devices: tuple[Device, ...] = ()
    if accelerator:
        devices = tuple(
            Device(
                id=str(index),
                index=index,
                model=accelerator.model,
                vendor=accelerator.vendor,
                memory_mib=int(accelerator.memory_gb * 10**9) // 2**20,
            )
            for index in range(accelerator.count)
        )
    return Machine(
        name=offering.name,
        cpu_cores=offering.cpu_cores,
        memory_bytes=offering.memory_bytes,
        devices=devices,
    )


def sites_of(offering: Offering) -> frozenset[str]:
    """Return every name by which a drive may say that it can be reached from there."""
    network = offering.network.id if offering.network else None
    places = (offering.region, offering.location, network)
    return frozenset(place for place in places if place)
