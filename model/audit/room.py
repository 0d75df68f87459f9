"""Room: a worker gets as many GPUs as it needs, all there, none faulted, and each its alone.

What is bought it gets whole: an instance takes one worker, and no more start than are available.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.seats import Bought, Seat, Start
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Device, Offering
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker with a wrong number of GPUs, and each GPU that isn't there to be given."""
    held = {
        (worker.host, device): run.name for run, worker in plan.holding for device in worker.devices
    }
    for start in plan.starts:
        yield from _miscounted(start)
    given: dict[tuple[str, str], str] = {}
    for seat in plan.seats:
        for message in _wrong(seat, held, given):
            yield Violation("room", seat.run.name, seat.machine.name, message)
    sold = Counter(bought.worker.host for bought in plan.bought)
    for bought in plan.bought:
        for message in _wrong_with(bought, sold):
            yield Violation("room", bought.run.name, bought.worker.host, message)


def unmet(plan: Plan, run: Run, offering: Offering) -> str | None:
    """Say that an instance has too few GPUs, or None."""
    each, there = run.gpus.count, _gpus(offering)
    return f"has {there} GPUs, {each} asked" if each > there else None


def usable(device: Device) -> bool:
    """Whether a run could have the GPU at all: a faulted one is never used."""
    return device.health != "faulted"


def _wrong(
    seat: Seat, held: dict[tuple[str, str], str], given: dict[tuple[str, str], str]
) -> Iterator[str]:
    run, worker, machine, devices = seat
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


def _wrong_with(bought: Bought, sold: Mapping[str, int]) -> Iterator[str]:
    _, worker, offering, _, is_left = bought
    there = [f"{worker.host}/{index}" for index in range(_gpus(offering))]
    if absent := sorted(set(worker.devices) - set(there)):
        yield f"the instance has no GPU {', '.join(absent)}"
    if len(set(worker.devices)) < len(worker.devices):
        yield "a GPU is given twice"
    if sold[worker.host] > 1:
        yield f"is given to {sold[worker.host]} workers, and takes one"
    if not is_left:
        yield f"{offering.name} is sold out before it"


def _miscounted(start: Start) -> Iterator[Violation]:
    """Yield each worker without its even part of the GPUs; where none is even, `machines` does."""
    run, outcome = start
    each, rest = divmod(run.gpus.count, 1 if run.array else max(1, len(outcome.workers)))
    for worker in outcome.workers if not rest else ():
        if len(worker.devices) != each:
            text = f"gets {len(worker.devices)} GPUs and needs {each}"
            yield Violation("room", run.name, worker.host, text)


def _gpus(offering: Offering) -> int:
    return offering.accelerator.count if offering.accelerator else 0
