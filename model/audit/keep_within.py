"""Keep within: a run never leaves one machine, NVLink domain, fabric or rack, where it says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Machine, Offering
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each run of several workers that isn't within one unit, or of which nothing says so."""
    yield from plan.apart("keep_within", apart)
    yield from plan.bought_apart("keep_within", bought)


def apart(plan: Plan, run: Run, machines: Sequence[Machine]) -> str | None:
    """Say in which units the machines are, where they aren't all in one, or None."""
    within = run.topology.keep_within
    names = sorted({machine.name for machine in machines})
    if within is None:
        return None
    if within == "node":
        several = len(names) > 1
        return f"is on {len(names)} machines, and is to be kept within one" if several else None
    units = {name: plan.places[name].unit(within) for name in names}
    unlabelled = [name for name, unit in units.items() if unit is None]
    if unlabelled:
        return f"is on {', '.join(unlabelled)}, and nothing says in which {within}"
    if len(set(units.values())) == 1:
        return None
    told = ", ".join(sorted({str(unit) for unit in units.values()}))
    return f"is in several of what it is to be kept within, a {within}: {told}"


def unknown(run: Run) -> str | None:
    """Say what isn't known of several instances that the run asks for, or None."""
    is_asked = run.topology.keep_within is not None
    return (
        f"is bought, and nothing tells that all its instances are in one {run.topology.keep_within}"
        if is_asked
        else None
    )


def bought(plan: Plan, run: Run, offerings: Sequence[Offering]) -> str | None:
    """Say the same of a run that is on instances of these."""
    return unknown(run)
