from __future__ import annotations

import pytest

from stowplan.model.errors import InvalidInput
from stowplan.model.reasons import Code
from tests.build import market, offering, wants
from tests.solver.cycles import blames, headline, row, starts


def test_a_workspace_spends_no_more_than_it_has() -> None:
    runs = [wants(name) | {"workspace": "w"} for name in "xy"]
    policy = {"workspaces": [{"name": "w", "balance_usd": "3.50"}]}
    s = market(offering("a", "2.00", available=5), runs=runs, policy=policy)
    assert starts(s) == {"x"}
    assert headline(s, "y").message == (
        "on a, the cheapest, it is expected to cost 2.00 USD, and workspace w has 1.50 left; "
        "2.00 went to runs of this cycle"
    )


def test_a_run_that_costs_more_than_there_is_says_so() -> None:
    policy = {"workspaces": [{"name": "default", "balance_usd": "1"}]}
    s = market(offering("a", "2.00"), runs=[wants("x")], policy=policy)
    assert blames(s, "x", "a") == (
        Code.EXCEEDS_REMAINING_BUDGET,
        "is expected to cost 2.00 USD, and workspace default has 1.00 left",
        {"need_usd": 2.0, "left_usd": 1.0, "balance": "default"},
    )


def test_others_do_not_pay_from_it() -> None:
    policy = {"workspaces": [{"name": "w", "balance_usd": "0"}]}
    runs = [wants("poor") | {"workspace": "w"}, wants("rich")]
    assert starts(market(offering("a", available=5), runs=runs, policy=policy)) == {"rich"}


def test_what_is_exactly_there_can_be_spent() -> None:
    runs = [wants(name) | {"workspace": "w"} for name in "xy"]
    policy = {"workspaces": [{"name": "w", "balance_usd": "4.00"}]}
    s = market(offering("a", "2.00", available=5), runs=runs, policy=policy)
    assert starts(s) == {"x", "y"}


def test_of_many_offerings_the_span_is_told() -> None:
    many = [offering(f"a{n:03}", f"{3 + n / 100:.2f}") for n in range(40)]
    policy = {"workspaces": [{"name": "default", "balance_usd": "2"}]}
    [told] = row(market(*many, runs=[wants("r")], policy=policy), "r", "a007")
    assert (
        told.message == "is expected to cost 3.00 to 3.39 USD, and workspace default has 2.00 left"
    )


def test_a_balance_below_nothing_is_refused_by_the_snapshot() -> None:
    policy = {"workspaces": [{"name": "default", "balance_usd": "-1"}]}
    with pytest.raises(InvalidInput, match="balance_usd"):
        market(offering("a"), runs=[wants("r")], policy=policy)


@pytest.mark.parametrize(
    ("budget", "balance", "number"), [("2", "9", 2), ("9", "1", 1), ("3", "3", 3)]
)
def test_the_lesser_of_a_budget_and_the_balance_counts(
    budget: str, balance: str, number: int
) -> None:
    policy = {
        "budgets": [{"name": "b", "workspaces": ["default"], "remaining_usd": budget}],
        "workspaces": [{"name": "default", "balance_usd": balance}],
    }
    s = market(offering("a", available=9), runs=[wants(name) for name in "wxyz"], policy=policy)
    assert len(starts(s)) == number
