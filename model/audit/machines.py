"""Machines: a run starts with all of its workers or with none, cut as it asks."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.alone import EmptyFleet
from stowplan.model.audit.cut import cut_of
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.seats import Start
from stowplan.model.audit.violation import Violation


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each run that starts with other workers than it asks for."""
    empty = EmptyFleet(plan)
    yield from _bought_gangs(plan)
    for start in plan.starts:
        run, outcome = start
        for wrong in _wrong(start):
            yield Violation("machines", run.name, None, wrong)
        if sorted(worker.index for worker in outcome.workers) != list(range(len(outcome.workers))):
            yield Violation("machines", run.name, None, "its workers aren't numbered from 0 on")
        if cut_of(run).counts is None:
            yield from _on_all(start, empty)


def _bought_gangs(plan: Plan) -> Iterator[Violation]:
    """Yield each worker of several that is bought: none of a gang may be, for now."""
    for bought in plan.bought:
        run = bought.run
        if run.array is None and len(plan.taken_by[run.name]) > 1:
            text = "is bought, and a run of several workers goes to machines only"
            yield Violation("machines", run.name, bought.worker.host, text)


def _wrong(start: Start) -> Iterator[str]:
    """Yield what is wrong with the number of its workers, and with what is told of it."""
    run, outcome = start
    tasks, told = 1 if run.array else len(outcome.workers), outcome.shape
    if not tasks:
        yield "starts with no worker at all"
        return
    if wrong := cut_of(run).wrong(tasks):
        yield wrong
        return
    each = run.gpus.count // tasks
    if (told.tasks, told.gpus_each) != (tasks, each):
        yield (f"told to be cut into {told.tasks} x {told.gpus_each} GPUs, and is {tasks} x {each}")


def _on_all(start: Start, empty: EmptyFleet) -> Iterator[Violation]:
    run, outcome = start
    chosen = {worker.host for worker in outcome.workers}
    could = empty.takers(run)
    for host in sorted(could - chosen):
        text = "could take it, and the run asks for every machine that could"
        yield Violation("machines", run.name, host, text)
    for host in sorted(chosen - could):
        text = "can't take it even when empty, so it isn't one of the machines asked for"
        yield Violation("machines", run.name, host, text)
