from __future__ import annotations

from decimal import Decimal

import pytest

from stowplan.model.audit import audit
from stowplan.model.decision import Decision, Estimate, PlacedRun, Span, StartupTime
from stowplan.model.snapshot import Snapshot
from tests.build import Place, altered, broken, run
from tests.model.audit.bought import by_rate, market, offering, priced, rented, work


def told(
    s: Snapshot, decision: Decision, rate: str, cost: str | None, assembly: str = "0"
) -> Decision:
    """Return the decision with an estimate of these figures for the run `a`."""
    estimate = Estimate(
        cost_usd=None if cost is None else Span(p50=cost, p90=cost),
        finish=None,
        startup_s=StartupTime(cold=100, warm=10),
        duration=None,
        breakdown=(),
        first_hold_usd=Decimal(0),
        minimum_usd=Decimal(0),
        valid_until=s.now,
        rate_usd_per_hour=Decimal(rate),
        startup_teardown_usd=Decimal(0),
        assembly_bound_usd=Decimal(assembly),
        unverified=(),
    )
    rate_before = decision.summary.usd_per_hour
    decision = altered(s, decision, "a", estimate=estimate)
    summary = decision.summary.model_copy(update={"usd_per_hour": rate_before})
    return decision.model_copy(update={"summary": summary})


def test_an_estimate_tells_the_rate_and_the_expected_cost_of_its_host() -> None:
    s = market([offering()], [work("a")])
    decision = priced(s, {"a": [("a100#1", 1)]}, "3.60")
    assert audit(s, told(s, decision, "3.60", "3.73")) == ()  # 3730 s at a tenth of a cent


@pytest.mark.parametrize(
    ("rate", "cost"), [("3.59", "3.73"), ("3.60", "3.72"), ("3.60", None), ("0", "0")]
)
def test_an_estimate_with_another_figure_is_refused(rate: str, cost: str | None) -> None:
    s = market([offering()], [work("a")])
    decision = priced(s, {"a": [("a100#1", 1)]}, "3.60")
    assert broken(s, told(s, decision, rate, cost)) == {"estimate"}


def test_without_a_running_time_there_is_no_total() -> None:
    s = market([offering()], [run("a", 1)])
    decision = priced(s, {"a": [("a100#1", 1)]}, "3.60")
    assert audit(s, told(s, decision, "3.60", None)) == ()
    assert broken(s, told(s, decision, "3.60", "0.13")) == {"estimate"}


def test_an_array_s_estimate_is_that_of_its_dearest_element() -> None:
    array = work("a", array={"size": 2})
    s = market([offering(), offering("b200", "7.20")], [array])
    places = {"a": [("a100#1", 1), ("b200#1", 1)]}
    decision = priced(s, places, "10.80", values={"a": by_rate("7.20")})
    assert audit(s, told(s, decision, "7.20", "7.46")) == ()  # 3730 s at a fifth of a cent
    assert broken(s, told(s, decision, "3.60", "3.73")) == {"estimate"}


@pytest.mark.parametrize(
    ("told", "ok"),
    [
        ([("3.6", "3.73"), ("7.2", "7.46")], True),
        ([("7.2", "7.46"), ("7.2", "7.46")], False),  # as the dearest
        ([("3.6", "3.73"), ("7.2", None)], False),
        ([(None, None), ("7.2", "7.46")], False),
        ([(None, None), (None, None)], True),  # a record that tells none
    ],
)
def test_each_worker_is_told_what_its_own_host_asks(
    told: list[tuple[str | None, str | None]], *, ok: bool
) -> None:
    s = market([offering(), offering("b200", "7.20")], [work("a", array={"size": 2})])
    places = {"a": [("a100#1", 1), ("b200#1", 1)]}
    decision = priced(s, places, "10.80", values={"a": by_rate("7.20")})
    [outcome] = decision.outcomes
    assert isinstance(outcome, PlacedRun)
    workers = tuple(
        worker.model_copy(
            update={
                "rate_usd_per_hour": rate and Decimal(rate),
                # At worst 1000 s more, at a tenth or a fifth of a cent.
                "cost_usd": cost and Span(p50=cost, p90=at_worst(cost)),
            }
        )
        for worker, (rate, cost) in zip(outcome.workers, told, strict=True)
    )
    altered_workers = outcome.model_copy(update={"workers": workers})
    told_so = decision.model_copy(update={"outcomes": (altered_workers,)})
    assert broken(s, told_so) == (set() if ok else {"estimate"})


def at_worst(cost: str) -> str:
    return {"3.73": "4.73", "7.46": "9.46"}[cost]


def test_a_run_of_several_workers_is_told_all_its_machines() -> None:
    s = market([], [work("a", 0, machines=2)], [rented("m"), rented("n")])
    decision = priced(s, {"a": [("m", 0), ("n", 0)]}, "7.20", values={"a": by_rate("7.20")})
    # Waited for in vain, each costs 900 s at a tenth of a cent.
    assert audit(s, told(s, decision, "7.20", "7.2", "1.8")) == ()
    assert broken(s, told(s, decision, "3.60", "3.6", "1.8")) == {"estimate"}
    assert broken(s, told(s, decision, "7.20", "7.2", "0.9")) == {"estimate"}


def test_a_run_on_several_instances_is_told_what_they_come_to_together() -> None:
    # Both are there until the slower has booted, after 300 s; then an hour; then each its 30 s:
    # 2 x 3930 s at a tenth of a cent. Waited for in vain: 2 x 900 s.
    slow = offering("slow", startup={"boot_p50_s": 300, "boot_p90_s": 300, "warm_s": 10})
    both = [each | {"location": "x"} for each in (offering(), slow)]
    s = market(both, [work("a", 0, machines=2)])
    places: dict[str, list[Place]] = {"a": [("a100#1", 0), ("slow#1", 0)]}
    decision = priced(s, places, "7.20", values={"a": by_rate("7.20")})
    assert audit(s, told(s, decision, "7.20", "7.86", "1.8")) == ()
    # As if each were there for its own start alone.
    assert broken(s, told(s, decision, "7.20", "7.66", "1.8")) == {"estimate"}
