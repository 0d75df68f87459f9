"""Room: a worker gets as many GPUs as it needs, all there, none faulted, and each its alone."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.cut import cut_of
from stowplan.model.audit.plan import Plan, Seat
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Device


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker with a wrong number of GPUs, and each GPU that isn't there to be given."""
    held = {
        (worker.host, device): run.name for run, worker in plan.holding for device in worker.devices
    }
    given: dict[tuple[str, str], str] = {}
    for seat in plan.seats:
        for message in _wrong(seat, held, given):
            yield Violation("room", seat.run.name, seat.machine.name, message)


def usable(device: Device) -> bool:
    """Whether a run could have the GPU at all: a faulted one is never used."""
    return device.health != "faulted"


def _wrong(
    seat: Seat, held: dict[tuple[str, str], str], given: dict[tuple[str, str], str]
) -> Iterator[str]:
    run, worker, machine, devices = seat
    cut = cut_of(run)
    if cut.uneven is None and len(worker.devices) != cut.gpus_each:
        yield f"gets {len(worker.devices)} GPUs and needs {cut.gpus_each}"
    if len(devices) != len(worker.devices):
        absent = sorted(set(worker.devices) - {device.id for device in devices})
        yield f"the machine has no GPU {', '.join(absent)}"
    for device in devices:
        place = (machine.name, device.id)
        if not usable(device):
            yield f"{device.id} is faulted"
        if place in held:
            yield f"{device.id} is held by {held[place]}"
        if place in given:
            yield f"{device.id} is given to {given[place]} too"
        given[place] = run.name
