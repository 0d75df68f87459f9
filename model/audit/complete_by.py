"""Complete by: a run goes to no host where it would end too late, nine times in ten."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence

from stowplan.model.audit.instances import Host
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker on a host where its run would end too late."""
    return plan.over("complete_by", over, together)


def over(plan: Plan, run: Run, host: Host, workers: int) -> str | None:
    """Say when it would end (p90), or start where its running time isn't known; or None."""
    if run.placement.complete_by is None:
        return None
    return _late(plan, run, plan.prices.seen(run, host).finish_s.p90)


def together(plan: Plan, run: Run, hosts: Sequence[Host]) -> str | None:
    """Say when the run would end on these instances together, where that is too late, or None."""
    if run.placement.complete_by is None:
        return None
    return _late(plan, run, plan.prices.together(run, hosts).seen.finish_s.p90)


def _late(plan: Plan, run: Run, takes: int) -> str | None:
    until = run.placement.complete_by
    if until is None:
        return None
    left = (until - plan.snapshot.now) // dt.timedelta(seconds=1)
    return f"takes {takes:,} s at worst, is due in {left:,} s" if takes > left else None
