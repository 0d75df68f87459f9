"""Memory: workers that start on a machine ask together for no more memory than is free there."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Offering
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each machine with too little free memory for what starts there."""
    for host, seats in plan.seats_on.items():
        machine = plan.machines[host]
        taken = sum(ask(run, len(worker.devices)) for run, worker in plan.held_on.get(host, ()))
        free = max(0, machine.memory_bytes - machine.used.memory_bytes - taken)
        asked = sum(ask(seat.run, len(seat.worker.devices)) for seat in seats)
        if asked > free:
            names = sorted({seat.run.name for seat in seats})
            text = f"{', '.join(names)} ask for {asked:,} bytes, {free:,} are free"
            yield Violation("memory", names[0] if len(names) == 1 else None, host, text)
    yield from plan.unmet("memory", unmet)


def unmet(plan: Plan, run: Run, offering: Offering) -> str | None:
    """Say that an instance has too little memory, or None."""
    asked = ask(run, run.gpus.count)
    too_much = asked > offering.memory_bytes
    return f"has {offering.memory_bytes:,} bytes, {asked:,} asked" if too_much else None


def ask(run: Run, gpus: int) -> int:
    """Return the bytes that a worker of the run takes with this many GPUs."""
    return run.memory_bytes + gpus * run.per_gpu.memory_bytes
