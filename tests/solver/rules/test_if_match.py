from __future__ import annotations

import datetime as dt
from typing import Any

from stowplan.model.estimating.token import token_of
from stowplan.model.money import micro_of
from stowplan.model.reasons import Code
from stowplan.model.runs import Run
from stowplan.solver.gang_pricing import GangRanking
from stowplan.solver.pricing import ranked
from tests.build import machine, market, offering, run, wants
from tests.solver.cycles import blames, row, starts

TOKEN = token_of(Run(name="r"), "a", 2_000_000, dt.datetime(2026, 9, 21, 7, tzinfo=dt.UTC))
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


def test_what_is_just_above_the_band_is_told_exactly() -> None:
    s = market(offering("a", "2.200001"), runs=[wants("r", if_match=TOKEN)])
    assert blames(s, "r", "a").message == "2.21 USD an hour, and its estimate allows 2.20"


def test_an_estimate_at_no_rate_allows_none() -> None:
    free = token_of(Run(name="r"), "m", 0, dt.datetime(2026, 9, 21, 7, tzinfo=dt.UTC))
    assert not starts(market(offering("a", "0.01"), runs=[wants("r", if_match=free)]))
    assert starts(market(runs=[wants("r", if_match=free)], machines=[machine("m", 1)]))


def test_of_many_offerings_the_span_is_told() -> None:
    many = [offering(f"a{n:03}", f"{3 + n / 100:.2f}") for n in range(40)]
    [told] = row(market(*many, runs=[wants("r", if_match=TOKEN)]), "r", "a007")
    assert told.message == "3.00 to 3.39 USD an hour, and its estimate allows 2.20"


def test_the_hosts_of_a_run_of_several_workers_are_counted_together() -> None:
    # Estimated at 2.00 for both: 1.00 each. At 2.00 each they are twice as dear.
    two = run("r", cpu_cores=1, node_selection={"count": 2}, expected_duration_s=3600)
    cheap = [machine(name, rate_usd_per_hour="1") for name in "mn"]
    dear = [machine(name, rate_usd_per_hour="2") for name in "mn"]
    ranks = ranked(market(runs=[two], machines=cheap), "r")
    assert isinstance(ranks, GangRanking)
    told = ranks.estimate("1 x m, 1 x n")
    assert micro_of(told.rate_usd_per_hour) == 2_000_000
    token = token_of(ranks.run, "m", micro_of(told.rate_usd_per_hour), told.valid_until)
    bound = two | {"placement": {"if_match": token}}
    assert starts(market(runs=[bound], machines=cheap))
    assert not starts(market(runs=[bound], machines=dear))
