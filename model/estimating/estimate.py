"""The estimate of a run on a host, as a decision shows it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator

from stowplan.model.decision import CostLine, Duration, Estimate, StartupTime
from stowplan.model.decision import Span as Shown
from stowplan.model.estimating.breakdown import Line, lines
from stowplan.model.estimating.duration import RunningTime
from stowplan.model.estimating.outlook import (
    assembly_bound,
    first_hold,
    minimum_charge,
    outlook,
    start_end_charge,
)
from stowplan.model.estimating.parts import first_start, needs_of
from stowplan.model.estimating.tariff import Tariff
from stowplan.model.money import MICRO, usd_of, written
from stowplan.model.runs import Run

HOLDS = dt.timedelta(minutes=31)
"""How long an estimate holds at most."""

UNKNOWN_TIME = "running time: not declared, not measured, no history"


def shown(found: Iterable[Line]) -> tuple[CostLine, ...]:
    """Return the lines of an estimate in dollars."""
    return tuple(
        CostLine(
            what=line.what,
            usd=usd_of(line.micro.p50),
            usd_p90=usd_of(line.micro.p90),
            seconds=line.seconds.p50,
            seconds_p90=line.seconds.p90,
            source=line.source,
        )
        for line in found
    )


def estimate(
    run: Run, tariff: Tariff, running: RunningTime | None, now: dt.datetime, hosts: int = 1
) -> Estimate:
    """Return what a run costs on so many hosts alike, and when it ends, as a record shows it.

    The lines show the likely figures (p50) and add up to the cost exactly. Finish is rounded up to
    the second. Without a running time there is no total: cost and finish are null, the lines are
    those of starting and ending.
    """
    seconds = running.seconds if running else None
    seen = outlook(run, tariff, seconds, hosts)
    needs, until = needs_of(run), now + HOLDS
    cold, warm = (first_start(needs, tariff, 0, is_warm=is_warm) for is_warm in (False, True))
    return Estimate(
        cost_usd=Shown(p50=written(seen.cost.p50), p90=written(seen.cost.p90)) if running else None,
        finish=Shown(p50=at(now, seen.finish_s.p50), p90=at(now, seen.finish_s.p90))
        if running
        else None,
        startup_s=StartupTime(cold=cold.seconds, warm=warm.seconds),
        duration=Duration(seconds=running.seconds.p50, source=running.source) if running else None,
        breakdown=shown(lines(run, tariff, running, hosts)),
        first_hold_usd=usd_of(first_hold(run, tariff, seconds, hosts)),
        minimum_usd=usd_of(minimum_charge(tariff) * hosts),
        valid_until=min(until, tariff.expires_at or until),
        rate_usd_per_hour=usd_of(seen.rate),
        startup_teardown_usd=usd_of(start_end_charge(needs, tariff) * hosts),
        assembly_bound_usd=usd_of(assembly_bound(tariff, hosts)),
        unverified=tuple(unverified(run, tariff, running)),
        sources=tariff.sources,
    )


def unverified(run: Run, tariff: Tariff, running: RunningTime | None) -> Iterator[str]:
    """Yield what the estimate rests on and nobody knows: each fact, with what is taken for it."""
    needs = needs_of(run)
    boots = not tariff.is_running or tariff.interruptions is not None
    matters = {
        "boot time": boots,
        "warm start": tariff.is_running,
        "image pull rate": needs.image_mib > 0,
        "restore rate": needs.restore_mib > 0 or (boots and needs.saved_mib > 0),
        "billing minimum": not tariff.is_running,
    }
    if running is None:
        yield UNKNOWN_TIME
        if run.placement.complete_by is not None:
            yield "complete_by: held against the start alone"
        if run.placement.max_cost_usd is not None:
            yield "max_cost_usd: held against the charges that are certain"
    if run.image_mib is None:
        yield "image size: nothing taken"
    for name, taken in tariff.unknown.items():
        if matters.get(name, True):
            yield f"{name}: {taken}"


def at(now: dt.datetime, seconds: int) -> str:
    """Return the time so many seconds after now, rounded up to the second; 9999 at most."""
    start = now + dt.timedelta(microseconds=-now.microsecond % MICRO)
    left = (dt.datetime.max.replace(tzinfo=dt.UTC) - start) // dt.timedelta(seconds=1)
    at = start + dt.timedelta(seconds=min(seconds, left))
    return at.isoformat().replace("+00:00", "Z")
