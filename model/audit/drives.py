"""Drives: each drive that a run mounts exists, is reachable from its machine, and has the room."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Drive, Machine
from stowplan.model.runs import DriveAsk, Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker on a machine where a drive of its run can't be used."""
    return plan.barred("drives", barred)


def barred(plan: Plan, run: Run, machine: Machine) -> str | None:
    """Say what is wrong with the first drive that the run can't use on the machine, or None."""
    if not run.drives:
        return None
    site = machine.labels.get(plan.snapshot.policy.topology_prefix + "site", machine.network)
    faults = (_fault(ask, plan.drives.get(ask.name), machine, site) for ask in run.drives)
    return next((fault for fault in faults if fault), None)


def _fault(ask: DriveAsk, drive: Drive | None, machine: Machine, site: str | None) -> str | None:
    if drive is None:
        return f"no drive {ask.name}"
    anywhere = drive.machine is None and not drive.sites
    if not (anywhere or drive.machine == machine.name or site in drive.sites):
        return f"drive {drive.name} can't be reached from site {site}"
    if drive.free_bytes is not None and ask.need_bytes > drive.free_bytes:
        return f"drive {drive.name} has {drive.free_bytes:,} bytes free, {ask.need_bytes:,} asked"
    return None
