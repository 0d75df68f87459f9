"""Patience: while a run is patient, it takes only the tightest rung that it could ever get."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from stowplan.model.audit.alone import BOUGHT, EmptyFleet
from stowplan.model.audit.places import bond
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Machine
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each run that starts on a looser rung than it could get, and hasn't waited so long."""
    empty = EmptyFleet(plan)
    for run, machines in plan.gangs:
        if not _is_patient(plan, run):
            continue
        there = plan.places_for(run)
        joined = bond([there[name] for name in {machine.name for machine in machines}])
        best = empty.tightest(run)
        if joined and best is not None and joined.rung > best:
            text = f"is on rung {joined.rung}, and could get rung {best}"
            yield Violation("patience", run.name, None, text)
    for name, hosts in plan.together.items():
        run, is_bought = plan.runs[name], not any(isinstance(host, Machine) for host in hosts)
        if is_bought and _is_patient(plan, run) and (empty.tightest(run) or BOUGHT) < BOUGHT:
            yield Violation("patience", name, None, "is bought, and machines could take it")


def _is_patient(plan: Plan, run: Run) -> bool:
    waited = plan.snapshot.now - (run.submitted_at or plan.snapshot.now)
    return waited < dt.timedelta(seconds=run.topology.patience_s)
