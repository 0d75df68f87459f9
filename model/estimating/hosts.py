"""What the machines of a snapshot ask, with what runs on them already."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from decimal import Decimal

from stowplan.model.estimating.tariff import Tariff, machine_tariff
from stowplan.model.fleet import Machine
from stowplan.model.holds import holding
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot

AT_LEAST = dt.timedelta(seconds=1)
"""A run whose end nobody knows keeps its machine billed now; how much longer isn't known."""


def machine_tariffs(snapshot: Snapshot) -> Mapping[str, Tariff]:
    """Return the tariff of each machine, by its name."""
    until = _billed_until(snapshot)
    return {
        machine.name: tariff_in(machine, snapshot.now, until.get(machine.name))
        for machine in snapshot.fleet.machines
    }


def tariff_in(machine: Machine, now: dt.datetime, billed_until: dt.datetime | None) -> Tariff:
    """Return a machine's tariff: what it is rented for; one of your own pool costs nothing."""
    if machine.byoc_pool is None:
        return machine_tariff(machine, now, billed_until)
    free = machine.model_copy(update={"rate_usd_per_hour": Decimal(0)})
    return machine_tariff(free, now, billed_until)


def _billed_until(snapshot: Snapshot) -> Mapping[str, dt.datetime]:
    """Return until when machines are billed for the runs that hold them, by name."""
    until: dict[str, dt.datetime] = {}
    for run, worker in holding(snapshot):
        end = max(expected_end(run, snapshot.now) or snapshot.now, snapshot.now + AT_LEAST)
        until[worker.host] = max(end, until.get(worker.host, end))
    return until


def expected_end(run: Run, now: dt.datetime) -> dt.datetime | None:
    """Return when a run that has its place should end: as declared, as measured, at its limit."""
    times: Iterable[int | None] = (
        run.expected_duration_s,
        run.measured_duration_s,
        run.time_limit_s,
    )
    known = next((time for time in times if time is not None), None)
    return None if known is None else (run.started_at or now) + dt.timedelta(seconds=known)
