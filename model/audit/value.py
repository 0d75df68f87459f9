"""Value: what a run's profile optimises is told rightly, and stays within the band of its best.

The reference is what the cycle left the run, before any other wish counted; it can't be better than
the best host that would take the run alone. Of runs alike the references and what they got are
compared rank by rank, so a run may end up below its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from stowplan.model.audit.alone import EmptyFleet
from stowplan.model.audit.cut import cut_of
from stowplan.model.audit.instances import Host
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.seats import Start
from stowplan.model.audit.violation import Violation
from stowplan.model.decision import Value
from stowplan.model.estimating.duration import as_written
from stowplan.model.estimating.outlook import risked
from stowplan.model.fleet import Machine
from stowplan.model.money import MICRO
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each run whose value is told wrongly, or is too far from what the cycle left it."""
    empty = EmptyFleet(plan)
    for start in plan.starts:
        run, outcome = start
        if outcome.value is None:
            if plan.prices.is_any and outcome.workers:
                yield Violation("value", run.name, None, "isn't told, and hosts cost something")
        elif not plan.prices.is_any and outcome.value.measure != "finish_s":
            if outcome.value.chosen or outcome.value.reference:
                yield Violation("value", run.name, None, "isn't 0, and no host costs anything")
        elif plan.taken_by.get(run.name):
            for wrong in _wrong(plan, start, outcome.value, empty):
                yield Violation("value", run.name, None, wrong)


def _wrong(plan: Plan, start: Start, told: Value, empty: EmptyFleet) -> Iterator[str]:
    run, hosts = start.run, plan.taken_by[start.run.name]
    profile = run.placement.profile or start.outcome.profile
    if run.name in plan.together:
        yield from _wrong_of_gang(plan, run, profile, told)
        return
    allowed = _measures(plan, run, profile, hosts)
    if told.measure not in allowed:
        yield f"is measured by {told.measure}; {profile}, and so by {' or '.join(allowed)}"
        return
    figures = [_figure(plan, run, host, told.measure, profile) for host in hosts]
    chosen, reference = (_whole(amount, told.measure) for amount in (told.chosen, told.reference))
    if chosen not in figures or (chosen < max(figures) and not _has_tiers(run, profile)):
        yield f"is told as {told.chosen}, and is {_told(max(figures), told.measure)}"
        return
    yield from _wrong_of_band(plan, run, profile, told)
    if any(shape.workers > 1 for shape in cut_of(run).shapes):
        return  # a set of hosts may have been better: there are too many to look at
    if reference < chosen and not _is_to_be_had(plan, run, told.measure, profile, reference, empty):
        yield f"has a reference of {told.reference}, less than any host comes to"


def _wrong_of_gang(plan: Plan, run: Run, profile: str, told: Value) -> Iterator[str]:
    """Yield what is wrong of a run of several workers: what counts is what they come to together.

    How good its reference is isn't looked at: there are too many sets of hosts.
    """
    hosts = plan.together[run.name]
    allowed = _measures(plan, run, profile, hosts)
    if told.measure not in allowed:
        yield f"is measured by {told.measure}; {profile}, and so by {' or '.join(allowed)}"
        return
    figure = _figure_of_gang(plan, run, hosts, told.measure, profile)
    if _whole(told.chosen, told.measure) != figure:
        yield f"is told as {told.chosen}, and is {_told(figure, told.measure)}"
        return
    yield from _wrong_of_band(plan, run, profile, told)


def _wrong_of_band(plan: Plan, run: Run, profile: str, told: Value) -> Iterator[str]:
    """Yield what is wrong of the band of a run, or of where in it the run is."""
    chosen, reference = (_whole(amount, told.measure) for amount in (told.chosen, told.reference))
    band = 0 if _is_exact(told, profile) else plan.snapshot.policy.bands.profile
    if told.band != Decimal(str(band)):
        yield f"has a band of {told.band}, and it is {band}"
    hosts = plan.together.get(run.name) or plan.taken_by[run.name]
    most = _most(plan, run, hosts, band, reference, profile)
    if most is not None and chosen > most:
        yield f"is {told.chosen}, beyond the band of {told.reference}"


def _figure_of_gang(plan: Plan, run: Run, hosts: list[Host], measure: str, profile: str) -> int:
    """Return what the hosts come to together, in micro-dollars or seconds."""
    if measure == "usd_per_hour":
        return sum(_figure(plan, run, host, measure, profile) for host in hosts)
    told = plan.prices.together(run, hosts)
    if measure == "finish_s":
        return told.seen.finish_s.p50
    costs = zip(told.costs, hosts, strict=True)
    return sum(risked(cost.p50, plan.prices.tariff(host).starts) for cost, host in costs)


def _measures(plan: Plan, run: Run, profile: str, hosts: list[Host]) -> list[str]:
    """Return what the run may be measured by: by the rate where its running time isn't known."""
    own = {"balanced": ["usd_per_hour"], "cost": ["cost_usd"], "speed": ["finish_s", "cost_usd"]}
    if not all(plan.prices.running(run, host) for host in hosts):
        return ["usd_per_hour"]
    known = plan.prices.is_known_everywhere(run)
    return own[profile] if known else list(dict.fromkeys([*own[profile], "usd_per_hour"]))


def _figure(plan: Plan, run: Run, host: Host, measure: str, profile: str) -> int:
    """Return what the host comes to, in micro-dollars or seconds."""
    tariff = plan.prices.tariff(host)
    if measure == "usd_per_hour":
        rate = tariff.ranked_rate
        return rate if profile == "balanced" else risked(rate, tariff.starts)
    seen = plan.prices.seen(run, host)
    if measure == "finish_s":
        return seen.finish_s.p50
    return risked(seen.cost.p50, tariff.starts)


def _is_exact(told: Value, profile: str) -> bool:
    return profile == "speed" and told.measure != "usd_per_hour"


def _has_tiers(run: Run, profile: str) -> bool:
    """Whether other things than the measure tell which of its hosts is the worst."""
    asked = run.placement
    return profile == "speed" or asked.pool is not None or asked.interruptible == "prefer"


def _most(
    plan: Plan, run: Run, hosts: list[Host], band: float, reference: Fraction, profile: str
) -> Fraction | None:
    """Return the most that the run may come to; None where a better tier allows any."""
    asked = run.placement
    if asked.pool is not None and any(_is_of_pool(host, asked.pool) for host in hosts):
        return None
    share = as_written(band)
    can_stop = any(not isinstance(h, Machine) and h.offering.interruptible for h in hosts)
    if asked.interruptible == "prefer" and can_stop:
        share = max(share, as_written(plan.snapshot.policy.bands.interruptible_prefer))
    return reference * (1 + share)


def _is_of_pool(host: Host, pool: str) -> bool:
    return isinstance(host, Machine) and host.byoc_pool == pool


def _is_to_be_had(
    plan: Plan, run: Run, measure: str, profile: str, most: Fraction, empty: EmptyFleet
) -> bool:
    """Whether some host that could take the run comes to no more than this."""
    return any(
        _figure(plan, run, host, measure, profile) <= most and empty.takes(run, host)
        for host in plan.hosts
    )


def _whole(amount: Decimal, measure: str) -> Fraction:
    """Return a told amount in micro-dollars or seconds."""
    return Fraction(amount) * (1 if measure == "finish_s" else MICRO)


def _told(figure: int, measure: str) -> Decimal:
    return Decimal(figure) if measure == "finish_s" else Decimal(figure) / MICRO
