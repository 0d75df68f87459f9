"""Least speed: every machine of a run has an RDMA port that is up and as fast as the run asks."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.interconnect import ports
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Machine, Offering
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker on a machine without a port that is up and fast enough."""
    yield from plan.barred("min_gbps", barred)
    yield from plan.unmet("min_gbps", unmet)


def barred(plan: Plan, run: Run, machine: Machine) -> str | None:
    """Say how fast the machine's fastest port is, where that is too slow, or None."""
    asked = run.network.min_gbps
    if not asked:
        return None
    fastest = max((port.rate_gbps for port in ports(run, machine)), default=None)
    if fastest is None:
        return f"no port is up, and {asked:g} Gbit/s are asked"
    return f"has {fastest:g} Gbit/s, {asked:g} asked" if fastest < asked else None


def unmet(plan: Plan, run: Run, offering: Offering) -> str | None:
    """Say that nothing is known of an instance's ports, where the run asks for a speed, or None."""
    asked = run.network.min_gbps
    return f"is bought, and {asked:g} Gbit/s are asked" if asked else None
