"""What an import gives: machines, and what had to be assumed to make them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from stowplan.model.errors import Problem
from stowplan.model.fleet import Device, Machine


@dataclass(frozen=True)
class Finding:
    """One thing that the source doesn't say, or says oddly, and what was assumed instead."""

    file: str | None
    line: int | None
    path: str
    """Where in the source: `gpu[0].uuid`; empty for the whole of it."""
    message: str

    def problem(self) -> Problem:
        """Return the finding as an error, for who wants no assumption made."""
        return Problem((), self.message, file=self.file, line=self.line, field=self.path)

    def __str__(self) -> str:
        return str(self.problem())


@dataclass(frozen=True)
class Imported:
    """The machines that a source describes at a time, and the findings about them."""

    name: str
    """What the snapshot is called."""
    now: datetime
    machines: tuple[Machine, ...]
    findings: tuple[Finding, ...]

    def document(self) -> dict[str, Any]:  # Any: a document, as YAML or JSON holds it
        """Return a snapshot document with this fleet: plain values, defaults left out."""
        return {
            "version": 1,
            "name": self.name,
            "now": _zulu(self.now),
            "fleet": {"machines": [_machine(machine) for machine in self.machines]},
        }


def _machine(machine: Machine) -> dict[str, Any]:
    written = machine.model_dump(mode="json", exclude_defaults=True)
    if machine.reported_at:
        written["reported_at"] = _zulu(machine.reported_at)
    if machine.devices:
        written["devices"] = [_device(device) for device in machine.devices]
    return written


def _device(device: Device) -> dict[str, Any]:
    written = device.model_dump(mode="json", exclude_defaults=True)
    return {"id": device.id, "index": device.index} | written


def _zulu(time: datetime) -> str:
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")
