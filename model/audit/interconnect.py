"""Interconnect: no two workers of a run are joined by a slower network than it accepts.

A single worker that asks for RDMA, or InfiniBand, is on a machine with such a port that is up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from stowplan.model.audit.places import Fabric, bond, shared
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Machine, Offering, Port
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker without the port it asks for, and each run on too slow a network."""
    yield from plan.barred("interconnect", barred)
    yield from plan.unmet("interconnect", unmet)
    yield from plan.apart("interconnect", apart)
    yield from plan.bought_apart("interconnect", bought)


def barred(plan: Plan, run: Run, machine: Machine) -> str | None:
    """Say that the machine has no port of the kind asked for that is up, or None."""
    asked = run.network.interconnect
    if asked not in ("rdma", "infiniband") or any(ports(run, machine)):
        return None
    return f"no port is up, and {asked} is asked"


def unmet(plan: Plan, run: Run, offering: Offering) -> str | None:
    """Say that nothing is known of an instance's ports, where the run asks for some, or None."""
    asked = run.network.interconnect
    return f"is bought, and {asked} is asked" if asked in ("rdma", "infiniband") else None


def apart(plan: Plan, run: Run, machines: Sequence[Machine]) -> str | None:
    """Say that what joins the machines is slower than asked, or None; sites are another rule."""
    there = plan.places_for(run)
    places = [there[name] for name in {machine.name for machine in machines}]
    joined = bond(places)
    return too_slow(run, joined.rung, shared(places)) if joined else None


def too_slow(run: Run, rung: int, fabrics: Collection[Fabric]) -> str | None:
    """Say that machines on this rung, on these networks together, are too far apart, or None."""
    asked = run.network.interconnect
    if asked == "auto" or rung <= 2:
        return None
    kinds = {fabric.kind for fabric in fabrics}
    if asked == "infiniband" and "infiniband" in kinds:
        return None
    if asked == "rdma" and kinds:
        return None
    return f"is on rung {rung}, and {asked} is asked"


def ports(run: Run, machine: Machine) -> Iterator[Port]:
    """Yield the ports of the machine that are up and of the kind that the run asks for."""
    only_infiniband = run.network.interconnect == "infiniband"
    for port in machine.rdma:
        if port.state == "up" and (port.kind == "infiniband" or not only_infiniband):
            yield port


def unknown(run: Run) -> str | None:
    """Say what isn't known of several instances that the run asks for, or None."""
    is_asked = run.network.interconnect == "nvlink"
    return (
        "is bought, and nothing tells that its instances are in one NVLink domain"
        if is_asked
        else None
    )


def bought(plan: Plan, run: Run, offerings: Sequence[Offering]) -> str | None:
    """Say the same of a run that is on instances of these."""
    return unknown(run)
