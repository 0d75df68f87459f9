"""Spread: two workers of one run never share a machine, unless the run lets them.

Nor a rack or a fabric, where it says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from stowplan.model.audit.cut import cut_of
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Machine, Offering
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each run of several workers that share what they mustn't."""
    yield from plan.apart("spread", apart)
    yield from plan.bought_apart("spread", bought)


def apart(plan: Plan, run: Run, machines: Sequence[Machine]) -> str | None:
    """Say what several workers share, each being on one of these machines, or None."""
    crowded = _several(machine.name for machine in machines)
    if crowded and not cut_of(run).may_share:
        return f"several of its workers share machine {', '.join(crowded)}"
    match run.topology.spread:
        case "rack" | "fabric" as kind:
            units = {machine.name: plan.places[machine.name].unit(kind) for machine in machines}
            unlabelled = [name for name, unit in sorted(units.items()) if unit is None]
            if unlabelled:
                return f"is on {', '.join(unlabelled)}, and nothing says in which {kind}"
            if crowded := _several(str(unit) for unit in units.values()):
                return f"several of its workers share {kind} {', '.join(crowded)}"
    return None


def _several(names: Iterator[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


def unknown(run: Run) -> str | None:
    """Say what isn't known of several instances that the run asks for, or None."""
    is_asked = run.topology.spread in ("rack", "fabric")
    return (
        f"is bought, and nothing tells in which {run.topology.spread} its instances are"
        if is_asked
        else None
    )


def bought(plan: Plan, run: Run, offerings: Sequence[Offering]) -> str | None:
    """Say the same of a run that is on instances of these."""
    return unknown(run)
