"""State: a worker goes only to a machine of the fleet that is up and reports capacity."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Machine
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker on a host that isn't there, is down, or has nothing to give."""
    for run, worker in plan.astray:
        yield Violation("state", run.name, worker.host, f"the fleet has no {worker.kind} of it")
    yield from plan.barred("state", barred)


def barred(plan: Plan, run: Run, machine: Machine) -> str | None:
    """Say why the machine is as good as not there, or None."""
    if machine.state == "down":
        return "the machine is down"
    if not (machine.cpu_cores or machine.memory_bytes or machine.devices):
        return "the machine reports no cores, no memory and no GPUs"
    return None
