"""Holds: what an earlier cycle placed stays as it is, and is given up only where it is void."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit import freshness
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.decision import Outcome, PlacedRun, StayingRun
from stowplan.model.holds import is_superseded
from stowplan.model.reasons import Code
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each run that was placed before and has another outcome than the table gives it."""
    for run in plan.snapshot.runs:
        if placed_before(run):
            for outcome in plan.outcomes.get(run.name, ()):
                if wrong := _wrong(plan, run, outcome):
                    yield Violation("holds", run.name, None, wrong)


def placed_before(run: Run) -> bool:
    """Whether an earlier cycle decided on the run; of a pending array: on some elements."""
    if run.array and run.state != "stopped":
        return run.placed is not None and bool(run.placed.workers)
    return run.state != "pending"


def _wrong(plan: Plan, run: Run, outcome: Outcome) -> str | None:
    if isinstance(outcome, PlacedRun):
        more = run.array is not None and plan.may_start(run)
        return None if more else f"is {run.state}, and is placed anew"
    expected, code = _stays(plan, run)
    if not isinstance(outcome, StayingRun) or outcome.outcome != expected:
        return f"is {run.state} and {outcome.outcome}; it should be {expected}, {code}"
    if outcome.reason.code != code:
        return f"is {expected} with {outcome.reason.code}, and the reason is {code}"
    before = run.placed.workers if run.placed else ()
    was = [(i, w.host, "machine", w.devices, w.element) for i, w in enumerate(before)]
    told = [(w.index, w.host, w.kind, w.devices, w.element) for w in outcome.workers]
    return "its workers aren't told as they are" if told != was else None


def _stays(plan: Plan, run: Run) -> tuple[str, Code]:
    """Return the outcome and its code; the first line of the table that applies."""
    workers = run.placed.workers if run.placed else ()
    machines = [plan.machines.get(worker.host) for worker in workers]
    if run.state == "stopped":
        return "withdrawn", Code.WORKLOAD_STOPPED
    if is_superseded(run, plan.snapshot):
        return "withdrawn", Code.WORKLOAD_SUPERSEDED
    for machine in machines:
        if machine is None or machine.state == "down" or freshness.barred(plan, run, machine):
            return "held", Code.HARDWARE_STALE
    for worker, machine in zip(workers, machines, strict=True):
        there = {device.id for device in machine.devices} if machine else set()
        if not there.issuperset(worker.devices):
            return "withdrawn", Code.GPU_UNAVAILABLE
    return "kept", Code.WORKLOAD_STARTING if run.state == "starting" else Code.OK
