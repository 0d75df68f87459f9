"""Estimate: what a run is told to cost is what it costs on the dearest of the hosts it got."""

from __future__ import annotations

from collections.abc import Iterator

from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.decision import Estimate
from stowplan.model.estimating.outlook import ASSEMBLY_S, Outlook, bill_of
from stowplan.model.money import charge, usd_of, written
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each run with an estimate whose rate or likely cost isn't that of its host."""
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
