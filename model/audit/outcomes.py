"""Outcomes: each run has exactly one outcome, one that its state allows, rightly summed up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from stowplan.model.audit.alone import EmptyFleet
from stowplan.model.audit.holds import placed_before
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.decision import (
    ArrayCount,
    Outcome,
    PlacedRun,
    RefusedRun,
    StayingRun,
    WaitingRun,
)
from stowplan.model.money import micro_of, usd_of, written
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each run without its one right outcome, and each figure of the decision that is off."""
    for name in plan.outcomes:
        if name not in plan.runs:
            yield Violation("outcomes", name, None, "the snapshot has no such run")
    empty = EmptyFleet(plan)
    for run in plan.snapshot.runs:
        theirs = plan.outcomes.get(run.name, [])
        if len(theirs) != 1:
            yield Violation("outcomes", run.name, None, f"has {len(theirs)} outcomes")
        for outcome in theirs:
            for wrong in _wrong(plan, run, outcome, empty):
                yield Violation("outcomes", run.name, None, wrong)
    for wrong in _figures(plan):
        yield Violation("outcomes", None, None, wrong)


def _wrong(plan: Plan, run: Run, outcome: Outcome, empty: EmptyFleet) -> Iterator[str]:
    if not placed_before(run):
        yield from _of_pending(plan, run, outcome, empty)
    if isinstance(outcome, PlacedRun) and not outcome.workers:
        yield "is placed without a worker"
    if isinstance(outcome, WaitingRun) and outcome.evaluated_at != plan.snapshot.now:
        yield f"waits as of {outcome.evaluated_at}, and it is {plan.snapshot.now}"
    if not isinstance(outcome, RefusedRun):
        yield from _miscounted(plan, run, outcome.array, outcome)


def _of_pending(plan: Plan, run: Run, outcome: Outcome, empty: EmptyFleet) -> Iterator[str]:
    """Yield what is wrong with the outcome of a run that no earlier cycle placed."""
    codes = empty.refusals(run)
    if run.array and plan.elements_left(run) == 0:  # done: it waits for nothing, or is kept
        if outcome.outcome not in ("waiting", "kept"):
            yield f"is {outcome.outcome}, and every element has ended"
    elif isinstance(outcome, StayingRun):
        yield f"is {outcome.outcome}, and never had a place"
    elif isinstance(outcome, RefusedRun):
        if outcome.reason.code not in codes:
            yield f"is refused with {outcome.reason.code}, and nothing says so"
    elif isinstance(outcome, WaitingRun) and codes:
        yield f"waits, and is to be refused with {', '.join(sorted(codes))}"


def _miscounted(plan: Plan, run: Run, told: ArrayCount | None, outcome: Outcome) -> Iterator[str]:
    if run.array is None:
        if told is not None:
            yield "is no array, and counts elements"
        return
    if not plan.may_start(run):  # stopped or superseded: none of it runs or waits
        return
    running = len(plan.held_by.get(run.name, ()))
    placed = len(outcome.workers) if isinstance(outcome, PlacedRun) else 0
    waiting = plan.elements_left(run) - placed
    right = (running, placed, waiting)
    if told is None or (told.running, told.placed, told.waiting) != right:
        yield f"counts its elements as {told}; {running} run, {placed} start, {waiting} wait"


def _figures(plan: Plan) -> Iterator[str]:
    decision, snapshot = plan.decision, plan.snapshot
    for what, told, right in (
        ("snapshot", decision.snapshot, snapshot.name),
        ("now", decision.now, snapshot.now),
        ("generation", decision.generation, snapshot.fleet.generation),
    ):
        if told != right:
            yield f"{what} is {told}, and the snapshot says {right}"
    counted = Counter[str](outcome.outcome for outcome in decision.outcomes)
    summary = decision.summary
    for kind, count in (
        ("placed", summary.placed),
        ("kept", summary.kept),
        ("held", summary.held),
        ("waiting", summary.waiting),
        ("refused", summary.refused),
        ("withdrawn", summary.withdrawn),
    ):
        if count != counted[kind]:
            yield f"the summary says {count} {kind}, and {counted[kind]} are"
    gpus = sum(
        len(worker.devices)
        for outcome in decision.outcomes
        if isinstance(outcome, PlacedRun)
        for worker in outcome.workers
    )
    rate = _rate(plan)
    if summary.usd_per_hour != usd_of(rate):
        yield f"the summary says {summary.usd_per_hour} USD an hour, and it is {written(rate)}"
    if summary.gpus_placed != gpus:
        yield f"the summary says {summary.gpus_placed} GPUs are placed, and {gpus} are"


def _rate(plan: Plan) -> int:
    """Return what is paid an hour from now on: for what is bought, and for rented machines.

    A machine on which something ran was paid for before; one of your own pool costs nothing.
    """
    rented = (plan.machines[name] for name in plan.seats_on if name not in plan.held_on)
    rates = [machine.rate_usd_per_hour for machine in rented if machine.byoc_pool is None]
    bought = {each.worker.host: each.offering.rate_usd_per_hour for each in plan.bought}
    return sum(micro_of(rate) for rate in (*rates, *bought.values()) if rate)
