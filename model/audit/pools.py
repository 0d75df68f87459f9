"""Pools: a workspace that has pools uses only machines whose label `pool` is one of them."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Machine
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker on a machine outside its workspace's pools."""
    return plan.barred("pools", barred)


def barred(plan: Plan, run: Run, machine: Machine) -> str | None:
    """Say in which pool the machine is, where it isn't one of the workspace's, or None."""
    pools = plan.pools.get(run.workspace)
    pool = {**machine.labels, **machine.reserved_for}.get("pool")
    if pools is None or pool in pools:
        return None
    return f"in pool {pool}, and workspace {run.workspace} has {', '.join(sorted(pools)) or 'none'}"
