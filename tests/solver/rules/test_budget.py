from __future__ import annotations

from typing import Any

from stowplan.model.audit import audit
from stowplan.model.reasons import Code
from stowplan.solver.cycle import solve
from tests.build import Document, machine, market, offering, run, wants
from tests.solver.cycles import headline, placed, row, starts


def _budget(usd: str, *workspaces: str, name: str = "b") -> Document:
    return {"name": name, "workspaces": list(workspaces or ("default",)), "remaining_usd": usd}


def _policy(*budgets: Document, **more: Any) -> Document:
    return {"budgets": list(budgets), **more}


def test_runs_that_each_keep_the_budget_do_not_keep_it_together() -> None:
    # Two at 2.00 and 1.00 left of 5.00: a third has too little.
    s = market(
        offering("a", "2.00", available=9),
        runs=[wants(name) for name in "xyz"],
        policy=_policy(_budget("5")),
    )
    assert starts(s) == {"x", "y"}
    assert headline(s, "z") == (
        Code.EXCEEDS_REMAINING_BUDGET,
        "on a, the cheapest, it is expected to cost 2.00 USD, and budget b has 1.00 left; "
        "4.00 went to runs of this cycle",
        {"need_usd": 2.0, "left_usd": 1.0, "budget": "b", "host": "a"},
    )


def test_what_is_exactly_left_can_be_spent() -> None:
    s = market(
        offering("a", "2.00", available=9),
        runs=[wants(name) for name in "xyz"],
        policy=_policy(_budget("6")),
    )
    assert starts(s) == {"x", "y", "z"}


def test_workspaces_share_it_and_others_do_not_draw_on_it() -> None:
    runs = [wants(f"r{n}") | {"workspace": w} for n, w in enumerate(("one", "two", "three"))]
    s = market(
        offering("a", "2.00", available=9), runs=runs, policy=_policy(_budget("3", "one", "two"))
    )
    assert len(starts(s)) == 2
    assert "r2" in starts(s)


def test_what_costs_nothing_needs_no_budget() -> None:
    s = market(
        offering("a", "2.00"),
        runs=[wants("x"), wants("y")],
        machines=[machine("m", 1)],
        policy=_policy(_budget("0")),
    )
    assert len(starts(s)) == 1


def test_a_dearer_host_is_taken_where_a_budget_keeps_another_from_it() -> None:
    # Only 3.00: one of the two takes the offering at 2.00, and the other finds 1.00 at the second.
    s = market(
        offering("a", "2.00"),
        offering("b", "1.00", interruptible=True, reclaims={"per_hour": 0}),
        runs=[wants("x"), wants("y", interruptible="never")],
        policy=_policy(_budget("3")),
    )
    assert starts(s) == {"x", "y"}


def test_a_budget_and_a_balance_hold_at_once() -> None:
    runs = [wants(name) | {"workspace": "w"} for name in "xyz"]
    own = {"workspaces": [{"name": "w", "balance_usd": "3"}]}
    s = market(
        offering("a", "1.00", available=9), runs=runs, policy=_policy(_budget("2", "w"), **own)
    )
    assert len(starts(s)) == 2
    s = market(
        offering("a", "1.00", available=9), runs=runs, policy=_policy(_budget("9", "w"), **own)
    )
    assert len(starts(s)) == 3


def test_a_placed_run_has_its_own_share_to_spend_elsewhere() -> None:
    # x took 1.00 of 1.50. On b it would cost 1.40, and it has 1.00 + 0.50.
    s = market(
        offering("a", "1.00"),
        offering("b", "1.40"),
        runs=[wants("x")],
        policy=_policy(_budget("1.5")),
    )
    [rejected] = placed(s, "x").rejected
    assert rejected.reasons[0].code == Code.OUTRANKED
    assert placed(s, "x").fallbacks == ("b",)


def test_huge_budgets_are_counted_in_larger_units_and_never_overdrawn() -> None:
    day = [run(f"r{n}", 1, expected_duration_s=86_400) for n in range(5)]
    s = market(offering("a", "900000", available=9), runs=day, policy=_policy(_budget("70000000")))
    # 24 x 900,000 = 21.6 million each: three fit in 70 million.
    decision = solve(s)
    assert decision.summary.placed == 3
    assert audit(s, decision) == ()


def test_of_many_offerings_the_span_is_told() -> None:
    many = [offering(f"a{n:03}", f"{3 + n / 100:.2f}") for n in range(40)]
    s = market(*many, runs=[wants("r")], policy=_policy(_budget("2")))
    [told] = row(s, "r", "a007")
    assert told.message == "is expected to cost 3.00 to 3.39 USD, and budget b has 2.00 left"
    assert (told.numbers["least_need_usd"], told.numbers["need_usd"]) == (3.0, 3.39)


def test_priority_is_served_first_where_money_runs_short() -> None:
    runs = [wants("cheap"), wants("urgent", 8) | {"priority": 5}]
    s = market(
        offering("small", "1", gpus=1), offering("large", "4.50"), runs=runs,
        policy=_policy(_budget("5")),
    )  # fmt: skip
    assert starts(s) == {"urgent"}


def test_money_is_spent_on_the_most_weight_and_not_on_the_cheapest_runs() -> None:
    # Of 4.00: four of one GPU at 1.00 each, or one of eight GPUs at 4.00.
    runs = [*(wants(f"small{n}") for n in range(4)), wants("large", 8)]
    s = market(
        offering("one", "1", gpus=1, available=4), offering("eight", "4"), runs=runs,
        policy=_policy(_budget("4")),
    )  # fmt: skip
    assert starts(s) == {"large"}


def test_an_array_is_cut_off_where_the_budget_ends() -> None:
    s = market(
        offering("a", "2", available=9), runs=[wants("r") | {"array": {"size": 9}}],
        policy=_policy(_budget("7.99")),
    )  # fmt: skip
    assert len(placed(s, "r").workers) == 3


def test_without_a_running_time_what_is_sure_is_held_against_it_jointly() -> None:
    # An hour at least is charged: 2.00 for each, whatever they take.
    billing = {"increment_s": 1, "minimum_s": 3600, "starts": "creation"}
    s = market(
        offering("a", "2", available=9, billing=billing), runs=[run(name, 1) for name in "xyz"],
        policy=_policy(_budget("5")),
    )  # fmt: skip
    assert len(starts(s)) == 2


def test_a_rented_machine_is_counted_for_each_run_that_starts_there() -> None:
    # Both would be billed together, 2.00 in all; counted is each as if alone.
    rented = machine("m", 2, rate_usd_per_hour="2")
    s = market(runs=[wants("x"), wants("y")], machines=[rented], policy=_policy(_budget("3.99")))
    assert len(starts(s)) == 1
    s = market(runs=[wants("x"), wants("y")], machines=[rented], policy=_policy(_budget("4")))
    assert len(starts(s)) == 2
