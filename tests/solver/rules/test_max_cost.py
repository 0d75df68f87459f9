from __future__ import annotations

from typing import Any

from stowplan.model.reasons import Code
from tests.build import Document, after, machine, market, offering, run, wants
from tests.solver.cycles import blames, places, row, starts


def test_a_cost_that_is_exactly_the_most_is_allowed() -> None:
    # An hour at 2.10 USD.
    assert starts(market(offering("a", "2.10"), runs=[wants("r", max_cost_usd="2.10")]))


def test_the_likely_cost_counts_and_not_the_worst() -> None:
    # p90: 1.25 h at 2.00 = 2.50, over the 2.20 that are allowed; likely are 2.00.
    assert starts(market(offering("a", "2.00"), runs=[wants("r", max_cost_usd="2.20")]))


def test_a_cost_above_says_both_amounts() -> None:
    s = market(offering("a", "2.10"), runs=[wants("r", max_cost_usd="2")])
    assert blames(s, "r", "a") == (
        Code.EXCEEDS_REMAINING_BUDGET,
        "is expected to cost 2.10 USD, and it may cost 2.00",
        {"need_usd": 2.1, "left_usd": 2.0},
    )


def test_without_a_running_time_what_is_sure_counts() -> None:
    # Charged at least for two hours: 4.00 USD, whatever the run takes.
    billing = {"increment_s": 1, "minimum_s": 7200, "starts": "creation"}
    s = market(
        offering("a", "2.00", billing=billing), runs=[run("r", 1, placement={"max_cost_usd": "3"})]
    )
    assert blames(s, "r", "a").message == "costs at least 4.00 USD, and it may cost 3.00"


def _gang(**placement: Any) -> Document:
    """Return a run of two workers, an hour each."""
    two = run("r", cpu_cores=1, node_selection={"count": 2}, expected_duration_s=3600)
    return two | {"placement": placement}


def _rented(usd: str) -> list[Document]:
    return [machine(name, rate_usd_per_hour=usd) for name in "mn"]


def test_the_workers_of_a_run_are_counted_together() -> None:
    asked = _gang(max_cost_usd="3")
    assert len(places(market(runs=[asked], machines=_rented("1.50")))["r"]) == 2
    assert blames(market(runs=[asked], machines=_rented("1.51")), "r", "m") == (
        Code.EXCEEDS_REMAINING_BUDGET,
        "is expected to cost 3.02 USD, and it may cost 3.00",
        {"need_usd": 3.02, "left_usd": 3.0},
    )


def test_failed_starts_do_not_count_as_cost() -> None:
    # They make it rank at 2.40, and it is charged 2.00.
    risky = offering("a", "2", starts={"attempts": 8, "failures": 2})
    assert starts(market(risky, runs=[wants("r", profile="cost", max_cost_usd="2")]))


def test_what_is_paid_for_already_costs_no_more() -> None:
    paid = machine("m", 1, rate_usd_per_hour="3", paid_until=after(1800))
    # Half of its hour is paid: 1.50 USD are left to pay.
    assert starts(market(runs=[wants("r", max_cost_usd="1.50")], machines=[paid]))
    assert not starts(market(runs=[wants("r", max_cost_usd="1.49")], machines=[paid]))


def test_of_many_offerings_the_span_is_told() -> None:
    many = [offering(f"a{n:03}", f"{3 + n / 100:.2f}") for n in range(40)]
    s = market(*many, runs=[wants("r", max_cost_usd="2")])
    [told] = row(s, "r", "a007")
    assert told.message == "is expected to cost 3.00 to 3.39 USD, and it may cost 2.00"
    assert (told.numbers["least_need_usd"], told.numbers["need_usd"]) == (3.0, 3.39)
