"""Machines: a run starts with all of its workers or with none, cut as it asks."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.alone import EmptyFleet
from stowplan.model.audit.cut import Cut, cut_of
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.seats import Start
from stowplan.model.audit.violation import Violation


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each run that starts with other workers than it asks for."""
    empty = EmptyFleet(plan)
    for bought in plan.bought:
        if cut_of(bought.run).workers != 1:
            text = "is bought, and a run of several workers goes to machines only"
            yield Violation("machines", bought.run.name, bought.worker.host, text)
    for start in plan.starts:
        run, outcome = start
        cut = cut_of(run)
        told = outcome.shape
        if cut.uneven:
            yield Violation("machines", run.name, None, cut.uneven)
            continue
        tasks = len(outcome.workers) if run.array is None else 1
        if (told.tasks, told.gpus_each) != (tasks, cut.gpus_each):
            text = (
                f"told to be cut into {told.tasks} x {told.gpus_each} GPUs, "
                f"and is {tasks} x {cut.gpus_each}"
            )
            yield Violation("machines", run.name, None, text)
        if sorted(worker.index for worker in outcome.workers) != list(range(len(outcome.workers))):
            yield Violation("machines", run.name, None, "its workers aren't numbered from 0 on")
        if run.array is None:
            yield from _workers(start, cut, empty)


def _workers(start: Start, cut: Cut, empty: EmptyFleet) -> Iterator[Violation]:
    run, outcome = start
    count = len(outcome.workers)
    if cut.workers is not None:
        if count != cut.workers:
            text = f"starts with {count} of {cut.workers} workers"
            yield Violation("machines", run.name, None, text)
        return
    chosen = {worker.host for worker in outcome.workers}
    could = empty.takers(run)
    for host in sorted(could - chosen):
        text = "could take it, and the run asks for every machine that could"
        yield Violation("machines", run.name, host, text)
    for host in sorted(chosen - could):
        text = "can't take it even when empty, so it isn't one of the machines asked for"
        yield Violation("machines", run.name, host, text)
    if not chosen:
        yield Violation("machines", run.name, None, "starts with no worker at all")
