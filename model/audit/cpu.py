"""CPU: workers that start on a machine ask together for no more cores than are free there."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Machine, Offering
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each machine with too few free cores for what starts there."""
    for host, seats in plan.seats_on.items():
        machine = plan.machines[host]
        taken = sum(ask(run, len(worker.devices)) for run, worker in plan.held_on.get(host, ()))
        free = max(0, whole(machine) - used(machine) - taken)
        asked = sum(ask(seat.run, len(seat.worker.devices)) for seat in seats)
        if asked > free:
            names = sorted({seat.run.name for seat in seats})
            text = f"{', '.join(names)} ask for {asked / 1000:g} cores, {free / 1000:g} are free"
            yield Violation("cpu", names[0] if len(names) == 1 else None, host, text)
    yield from plan.unmet("cpu", unmet)


def unmet(plan: Plan, run: Run, offering: Offering) -> str | None:
    """Say that an instance has too few cores, or None."""
    asked, there = ask(run, run.gpus.count), _thousandths(offering.cpu_cores)
    return f"has {there / 1000:g} cores, {asked / 1000:g} asked" if asked > there else None


def ask(run: Run, gpus: int) -> int:
    """Return the thousandths of a core that a worker of the run takes with this many GPUs."""
    return _thousandths(run.cpu_cores) + gpus * _thousandths(run.per_gpu.cpu_cores)


def whole(machine: Machine) -> int:
    """Return the thousandths of a core that the machine has."""
    return _thousandths(machine.cpu_cores)


def used(machine: Machine) -> int:
    """Return the thousandths of a core that others use there."""
    return _thousandths(machine.used.cpu_cores)


def _thousandths(cores: float) -> int:
    return round(cores * 1000)
