from __future__ import annotations

from stowplan.model.reasons import Code
from tests.build import market, offering, wants
from tests.solver.cycles import blames, headline, starts


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
