from __future__ import annotations

from stowplan.model.reasons import Code
from tests.build import market, offering, run, wants
from tests.solver.cycles import blames, starts


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
