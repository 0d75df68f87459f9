"""Machines: a run starts with all of its workers or with none, cut as it asks."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.alone import EmptyFleet
from stowplan.model.audit.cut import cut_of
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.seats import Start
from stowplan.model.audit.violation import Violation
from stowplan.model.fleet import Machine


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each run that starts with other workers than it asks for."""
    empty = EmptyFleet(plan)
    yield from _mixed(plan)
    for start in plan.starts:
        run, outcome = start
        for wrong in _wrong(start):
            yield Violation("machines", run.name, None, wrong)
        if sorted(worker.index for worker in outcome.workers) != list(range(len(outcome.workers))):
            yield Violation("machines", run.name, None, "its workers aren't numbered from 0 on")
        if cut_of(run).counts is None:
            yield from _on_all(start, empty)


def _mixed(plan: Plan) -> Iterator[Violation]:
    """Yield each run of several workers of which some are bought and some aren't."""
    for name, hosts in plan.together.items():
        bought = sum(not isinstance(host, Machine) for host in hosts)
        if 0 < bought < len(hosts):
            text = f"has {bought} of {len(hosts)} workers on what is bought: it is all or none"
            yield Violation("machines", name, None, text)


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
