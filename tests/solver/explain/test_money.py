"""What placed runs cost and got, as the decision tells it."""

from __future__ import annotations

from decimal import Decimal

from stowplan.model.decision import Got
from stowplan.solver.cycle import solve
from tests.build import after, machine, market, offering, run, running, wants
from tests.solver.cycles import placed


def test_each_limit_and_wish_is_told_with_what_it_got() -> None:
    limits = {
        "interruptible": "never", "max_rate_usd_per_hour": "3", "max_cost_usd": "2.5",
        "complete_by": after(7200),
    }  # fmt: skip
    s = market(offering("a", "2"), runs=[run("r", 1, expected_duration_s=3600, placement=limits)])
    assert placed(s, "r").asked_and_got == (
        Got(rule="interruptible", asked="never", got="can't be interrupted"),
        Got(rule="max_rate", asked="at most 3 USD an hour", got="2 USD an hour"),
        Got(rule="max_cost", asked="at most 2.5 USD", got="2 USD expected"),
        Got(
            rule="complete_by", asked="by 2026-09-21T08:00:00Z",
            got="2026-09-21T07:15:00Z at worst",
        ),
    )  # fmt: skip


def test_a_pool_says_whether_it_was_had() -> None:
    lab = machine("m", 1, byoc_pool="lab")
    s = market(
        offering("a", "2"), runs=[wants("x", pool="lab"), wants("y", pool="lab")], machines=[lab]
    )
    got = {placed(s, name).asked_and_got[0].got for name in "xy"}
    assert got == {"lab", "another host: none there is free"}


def test_what_is_held_against_what_is_sure_alone_is_named() -> None:
    policy = {"budgets": [{"name": "b", "workspaces": ["default"], "remaining_usd": "9"}]}
    s = market(offering("a", "2"), runs=[run("r", 1)], policy=policy)
    told = placed(s, "r").estimate
    assert told
    assert told.cost_usd is None
    assert "b: held against what is sure to be charged" in told.unverified


def test_an_hour_is_paid_for_instances_and_for_rented_machines_that_were_idle() -> None:
    s = market(
        offering("a", "2", available=5),
        runs=[
            running("old", ("busy", 1)),
            *(
                run(name, {"count": 1, "models": ["H100"]}, expected_duration_s=60)
                for name in "wxyz"
            ),
        ],
        machines=[
            machine("busy", 2, rate_usd_per_hour="1"),
            machine("idle", 2, rate_usd_per_hour="1.50"),
        ],
    )
    # One beside `old`, which is billed already; two on `idle`, which counts once; one bought.
    assert solve(s).summary.usd_per_hour == Decimal("3.50")


def test_where_nothing_costs_anything_there_is_no_estimate() -> None:
    s = market(runs=[wants("r")], machines=[machine("m", 1)])
    assert placed(s, "r").estimate is None
    assert str(solve(s).summary.usd_per_hour) == "0.00"
