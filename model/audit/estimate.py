"""Estimate: what a run is told to cost is what it costs on the dearest of the hosts it got.

And what each of its workers is told is what it comes to on its own host.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.seats import Taken
from stowplan.model.audit.violation import Violation
from stowplan.model.decision import Estimate, Span
from stowplan.model.estimating.duration import Likely
from stowplan.model.estimating.outlook import ASSEMBLY_S, Outlook, bill_of
from stowplan.model.money import charge, usd_of, written
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each run with an estimate whose rate or likely cost isn't that of its host; and each
    worker."""
    for run, outcome in plan.starts:
        hosts = plan.taken_by.get(run.name)
        if outcome.estimate is None or not hosts:
            continue
        if run.name in plan.together:
            yield from _of_gang(plan, run, outcome.estimate)
            continue
        seen = [plan.prices.seen(run, host) for host in hosts]
        most = max(each.cost.p50 for each in seen), max(each.rate for each in seen)
        dearest = [each for each in seen if each.cost.p50 == most[0] or each.rate == most[1]]
        if not any(_tells(outcome.estimate, each) for each in dearest):
            right = dearest[0]
            text = (
                f"is told {_said(outcome.estimate)}; it is {written(right.rate)} USD an hour and "
                f"{_total(right) or 'unknown'} in all"
            )
            yield Violation("estimate", run.name, None, text)
    workers: dict[str, list[Taken]] = defaultdict(list)
    for each in plan.taken:
        workers[each.run.name].append(each)
    for taken in workers.values():
        yield from _of_workers(plan, taken)


def _of_workers(plan: Plan, taken: Sequence[Taken]) -> Iterator[Violation]:
    """Yield each worker of a run that is told another rate than its host's, or another cost."""
    if all(worker.rate_usd_per_hour is None for _, worker, _ in taken):
        return
    run, hosts = taken[0].run, [host for *_, host in taken]
    if run.name in plan.together:
        of_all = plan.prices.together(run, hosts)
        rights = [cost if of_all.seen.is_total else None for cost in of_all.costs]
    else:
        seen = [plan.prices.seen(run, host) for host in hosts]
        rights = [each.cost if each.is_total else None for each in seen]
    for (_, worker, host), right in zip(taken, rights, strict=True):
        rate = usd_of(plan.prices.tariff(host).rate)
        if worker.rate_usd_per_hour != rate or worker.cost_usd != _spanned(right):
            told = f"{worker.rate_usd_per_hour} USD an hour and {worker.cost_usd or 'unknown'}"
            text = f"worker {worker.index} is told {told}; it is {rate} and {right or 'unknown'}"
            yield Violation("estimate", run.name, worker.host, text)


def _spanned(cost: Likely | None) -> Span | None:
    return Span(p50=written(cost.p50), p90=written(cost.p90)) if cost else None


def _of_gang(plan: Plan, run: Run, told: Estimate) -> Iterator[Violation]:
    """Yield what is wrong of a run of several workers: its rate, its cost, or what a failed
    assembly can cost, all of its hosts together."""
    hosts = plan.together[run.name]
    right = plan.prices.together(run, hosts).seen
    if not _tells(told, right):
        text = (
            f"is told {_said(told)}; it is {written(right.rate)} USD an hour and "
            f"{_total(right) or 'unknown'} in all"
        )
        yield Violation("estimate", run.name, None, text)
    bound = sum(
        charge(tariff.rate, bill_of(ASSEMBLY_S, tariff, 1).billed_s)
        for tariff in map(plan.prices.tariff, hosts)
    )
    if told.assembly_bound_usd != usd_of(bound):
        text = f"a failed assembly is told to cost {told.assembly_bound_usd}: {written(bound)}"
        yield Violation("estimate", run.name, None, text)


def _tells(told: Estimate, right: Outlook) -> bool:
    cost = told.cost_usd.p50 if told.cost_usd else None
    return told.rate_usd_per_hour == usd_of(right.rate) and cost == _total(right)


def _total(seen: Outlook) -> str | None:
    return written(seen.cost.p50) if seen.is_total else None


def _said(told: Estimate) -> str:
    cost = told.cost_usd.p50 if told.cost_usd else "unknown"
    return f"{told.rate_usd_per_hour} USD an hour and {cost} in all"
