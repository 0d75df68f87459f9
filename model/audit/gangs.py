"""Whether a run of several workers could be bought, were nothing else there: by trying sets of
instances."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit import interconnect as link
from stowplan.model.audit import keep_within, scope, spread, transport
from stowplan.model.audit.cut import Shape, cut_of
from stowplan.model.audit.instances import Host, Instance
from stowplan.model.audit.limits import over_together
from stowplan.model.audit.plan import Plan
from stowplan.model.instances import instances_of
from stowplan.model.runs import Run

STEPS = 100_000
"""Sets that are tried before it is taken that none would do."""


def can_be_bought(plan: Plan, run: Run, takers: list[tuple[Shape, Instance]]) -> bool:
    """Whether some set of instances takes the run whole; `takers` would take one worker each."""
    if run.array is not None or cut_of(run).counts is None:
        return False
    return any(
        _is_bought_in(plan, run, shape, [each for own, each in takers if own == shape])
        for shape in dict.fromkeys(shape for shape, _ in takers)
        if shape.workers > 1
    )


def _is_bought_in(plan: Plan, run: Run, shape: Shape, takers: list[Instance]) -> bool:
    for tried, chosen in enumerate(_sets(plan, run, shape.workers, takers)):
        if not over_together(plan, run, chosen):
            return True
        if tried > STEPS:
            break
    return False


def _sets(plan: Plan, run: Run, workers: int, takers: list[Instance]) -> Iterator[list[Host]]:
    """Yield the sets of instances that the run's rules allow together, the cheapest first."""
    ordered = sorted(takers, key=lambda each: plan.prices.tariff(each).rate)
    counts = [_count(plan, each) for each in ordered]

    def extend(at: int, chosen: list[Host]) -> Iterator[list[Host]]:
        if len(chosen) == workers:
            yield list(chosen)
            return
        if at == len(ordered) or len(chosen) + sum(counts[at:]) < workers:
            return
        for more in range(min(counts[at], workers - len(chosen)), -1, -1):
            after = [*chosen, *[ordered[at]] * more]
            if not more or not _apart(plan, run, after):
                yield from extend(at + 1, after)

    yield from extend(0, [])


def _apart(plan: Plan, run: Run, chosen: list[Host]) -> bool:
    offerings = [each.offering for each in chosen if isinstance(each, Instance)]
    rules = (scope, transport)
    if any(rule.apart(plan, run, offerings) for rule in rules):
        return True
    return any(rule.unknown(run) for rule in (keep_within, spread, link))


def _count(plan: Plan, each: Instance) -> int:
    """Return how many there are with nothing sold out."""
    there = instances_of(each.offering, plan.snapshot.policy)
    return there.warm if each.is_warm else max(1, there.cold)
