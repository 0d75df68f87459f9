from __future__ import annotations

import datetime as dt
from typing import Any

from stowplan.model.estimating.token import token_of
from stowplan.model.reasons import Code
from stowplan.model.runs import Run
from tests.build import market, offering, wants
from tests.solver.cycles import blames, starts

TOKEN = token_of(Run(name="r"), "a", 2_000_000, dt.datetime(2026, 9, 21, tzinfo=dt.UTC))
"""Of an estimate at 2.00 USD an hour."""


def test_up_to_a_tenth_above_the_estimate_is_allowed() -> None:
    assert starts(market(offering("a", "2.20"), runs=[wants("r", if_match=TOKEN)]))


def test_more_than_a_tenth_above_is_not() -> None:
    s = market(offering("a", "2.21"), runs=[wants("r", if_match=TOKEN)])
    assert blames(s, "r", "a") == (
        Code.PRICE_ABOVE_ESTIMATE,
        "2.21 USD an hour, and its estimate allows 2.20",
        {"rate_usd_per_hour": 2.21, "max_usd_per_hour": 2.2},
    )


def test_a_highest_rate_of_its_own_counts_instead() -> None:
    placement: dict[str, Any] = {"if_match": TOKEN, "max_rate_usd_per_hour": "9"}
    assert starts(market(offering("a", "8"), runs=[wants("r", **placement)]))


def test_the_policy_may_allow_more() -> None:
    s = market(
        offering("a", "2.50"),
        runs=[wants("r", if_match=TOKEN)],
        policy={"bands": {"if_match": 0.25}},
    )
    assert starts(s)
