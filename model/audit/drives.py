"""Drives: each drive that a run mounts exists, is reachable from its machine, and has the room."""

from __future__ import annotations

from collections.abc import Iterator, Set

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Drive, Machine, Offering
from stowplan.model.instances import sites_of
from stowplan.model.runs import DriveAsk, Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker on a machine where a drive of its run can't be used."""
    yield from plan.barred("drives", barred)
    yield from plan.unmet("drives", unmet)


def barred(plan: Plan, run: Run, machine: Machine) -> str | None:
    """Say what is wrong with the first drive that the run can't use on the machine, or None."""
    if not run.drives:
        return None
    site = machine.labels.get(plan.snapshot.policy.topology_prefix + "site", machine.network)
    return _first_fault(plan, run, machine.name, set() if site is None else {site})


def unmet(plan: Plan, run: Run, offering: Offering) -> str | None:
    """Say what is wrong with the first drive that the run can't use on an instance, or None."""
    return _first_fault(plan, run, None, sites_of(offering)) if run.drives else None


def _first_fault(plan: Plan, run: Run, machine: str | None, sites: Set[str]) -> str | None:
    faults = (_fault(ask, plan.drives.get(ask.name), machine, sites) for ask in run.drives)
    return next((fault for fault in faults if fault), None)


def _fault(ask: DriveAsk, drive: Drive | None, machine: str | None, sites: Set[str]) -> str | None:
    if drive is None:
        return f"no drive {ask.name}"
    anywhere = drive.machine is None and not drive.sites
    here = machine is not None and drive.machine == machine
    if not (anywhere or here or not sites.isdisjoint(drive.sites)):
        return f"drive {drive.name} can't be reached from site {', '.join(sorted(sites)) or None}"
    if drive.free_bytes is not None and ask.need_bytes > drive.free_bytes:
        return f"drive {drive.name} has {drive.free_bytes:,} bytes free, {ask.need_bytes:,} asked"
    return None
