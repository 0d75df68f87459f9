"""Lots: the GPUs of one machine that no rule tells apart."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal

from stowplan.model.fleet import Device, Machine, Vendor
from stowplan.model.room import Room

Condition = Literal["sound", "at_risk", "faulted"]
_CONDITIONS: Sequence[Condition] = ("sound", "at_risk", "faulted")


@dataclass(frozen=True)
class Lot:
    """GPUs of one machine that no rule tells apart."""

    ids: frozenset[str]
    model: str
    vendor: Vendor | None
    memory_mib: int
    condition: Condition
    """sound: shows no sign of failing (healthy, or of unknown health)."""
    denied: bool
    nominal_gb: float | None = None
    """Memory as an offering states it; None for what a machine reports."""

    def free(self, room: Room) -> int:
        """How many of these GPUs are free."""
        return len(self.ids & room.devices)

    def sort(self, told: frozenset[str]) -> tuple[Hashable, ...]:
        """What tells lots of different machines apart: their ids only where runs name them."""
        own = self.ids if self.ids & told else len(self.ids)
        return (*self.being, own)

    @property
    def being(self) -> tuple[Hashable, ...]:
        """What these GPUs are, whichever they are."""
        memory = (self.memory_mib, self.nominal_gb)
        return (self.model, self.vendor, memory, self.condition, self.denied)


def lots_of(
    machine: Machine, pinned: Collection[str], nominal_gb: float | None = None
) -> tuple[Lot, ...]:
    """Return a machine's lots; on machines of one sort they come in the same order."""
    denied = machine.constraints.denied_devices
    alike: dict[tuple[int, str, str, int, bool, str], list[Device]] = {}
    for device in machine.devices:
        own = device.id if device.id in pinned else ""
        withheld = device.id in denied
        condition = _condition(device)
        key = (
            _CONDITIONS.index(condition),
            device.model,
            device.vendor or "",
            device.memory_mib,
            withheld,
            own,
        )
        alike.setdefault(key, []).append(device)
    ordered = sorted(alike.items(), key=itemgetter(0))
    return tuple(
        Lot(
            ids=frozenset(device.id for device in devices),
            model=model,
            vendor=devices[0].vendor,
            memory_mib=memory_mib,
            condition=_CONDITIONS[condition],
            denied=withheld,
            nominal_gb=nominal_gb,
        )
        for (condition, model, _, memory_mib, withheld, _), devices in ordered
    )


def _condition(device: Device) -> Condition:
    match device.health:
        case "at_risk" | "faulted":
            return device.health
        case _:
            return "sound"
