"""One site: the workers of a run are never in several sites."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Machine
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each run of several workers that spans sites."""
    return plan.apart("one_site", apart)


def apart(plan: Plan, run: Run, machines: Sequence[Machine]) -> str | None:
    """Say which sites the machines are in, where these are several, or None."""
    sites = {plan.places[machine.name].site for machine in machines}
    if len(sites) < 2:
        return None
    return f"spans {len(sites)} sites: {', '.join(sorted(site or 'the unnamed' for site in sites))}"
