"""Max accelerators: no worker takes more GPUs of a machine than its operator allows."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Machine


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker with more GPUs than one may take on its machine."""
    for seat in plan.seats:
        if why := over(len(seat.worker.devices), seat.machine):
            yield Violation("max_accelerators", seat.run.name, seat.machine.name, why)


def over(gpus: int, machine: Machine) -> str | None:
    """Say that a worker with so many GPUs has more than one may take here, or None."""
    limit = machine.constraints.max_accelerators
    return (
        f"{gpus} GPUs, and a worker may take {limit}"
        if limit is not None and gpus > limit
        else None
    )
