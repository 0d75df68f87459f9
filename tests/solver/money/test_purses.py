"""Money that runs of a cycle spend together: rows, units, and what is said of too little."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.audit import audit
from stowplan.model.decision import PlacedRun
from stowplan.model.errors import InvalidInput
from stowplan.model.reasons import Code
from stowplan.model.snapshot import Snapshot
from stowplan.solver.cycle import solve
from stowplan.solver.layout import Layout
from stowplan.solver.money.purses import spent
from stowplan.solver.program.linear import Row
from tests.build import Document, machine, market, offering, run, wants
from tests.solver.cycles import choices_of, grid_of, says, starts
from tests.strategies import examples


def purse(usd: str, name: str = "b", *workspaces: str) -> Document:
    return {"name": name, "workspaces": list(workspaces or ("default",)), "remaining_usd": usd}


def budgets(*purses: Document) -> Document:
    return {"budgets": list(purses)}


def money_rows(snapshot: Snapshot) -> list[Row]:
    """Return the rows of all purses."""
    choices = choices_of(snapshot)
    return [*spent(choices, "budget"), *spent(choices, "balance")]


def test_a_row_counts_what_each_worker_costs_on_each_host() -> None:
    s = market(
        offering("a", "1", available=2), offering("b", "2.5"), runs=[wants("x"), wants("y")],
        policy=budgets(purse("3")),
    )  # fmt: skip
    (row,) = money_rows(s)
    assert sorted(row.terms.values()) == [1_000_000, 2_500_000]
    assert row.high == 3_000_000


def test_a_budget_and_a_balance_of_one_workspace_are_a_row_each() -> None:
    policy = {
        "budgets": [purse("9", "default"), purse("8", "c", "other")],
        "workspaces": [{"name": "default", "balance_usd": "3"}, {"name": "other"}],
    }
    s = market(offering("a"), runs=[wants("x")], policy=policy)
    # One of `c` too, of which nobody draws.
    bounds = sorted((row.high, len(row.terms)) for row in money_rows(s))
    assert bounds == [(3_000_000, 1), (8_000_000, 0), (9_000_000, 1)]


def test_what_costs_nothing_is_in_no_row() -> None:
    s = market(runs=[wants("x")], machines=[machine("m", 1)], policy=budgets(purse("0")))
    assert all(not row.terms for row in money_rows(s))


def test_small_amounts_are_counted_to_the_micro_dollar() -> None:
    def cycle(usd: str) -> set[str]:
        hosts = offering("a", "1.000001", available=9)
        runs = [wants(name) for name in "xyz"]
        return starts(market(hosts, runs=runs, policy=budgets(purse(usd))))

    assert len(cycle("3.000003")) == 3
    assert len(cycle("3.000002")) == 2


def huge(days: int, left: str) -> Snapshot:
    # 12 instances for `days` days at 900,000 USD an hour: 21.6 million USD a day each.
    runs = [run(f"r{n:02}", 1, expected_duration_s=86_400 * days) for n in range(12)]
    hosts = offering("a", "900000", available=12)
    return market(hosts, runs=runs, policy=budgets(purse(left)))


def test_huge_amounts_are_counted_to_the_micro_dollar_too() -> None:
    # 12 x 21.6 million USD x 10 are 2.6e15 micro-dollars.
    (row,) = money_rows(huge(10, "2160000000"))
    assert list(row.terms.values()) == [216_000_000_000_000]
    assert row.high == 2_160_000_000_000_000


@pytest.mark.parametrize(("left", "number"), [("2160000000", 10), ("2159999999", 9)])
def test_huge_budgets_are_spent_to_the_last_and_never_overdrawn(left: str, number: int) -> None:
    decision = solve(huge(10, left))
    assert decision.summary.placed == number
    assert audit(huge(10, left), decision) == ()


def test_of_several_budgets_the_tightest_is_told() -> None:
    s = market(
        offering("a", "2"), runs=[wants("x")],
        policy=budgets(purse("1.50", "wide"), purse("0.50", "narrow"), purse("0.50", "other")),
    )  # fmt: skip
    assert says(s, "x", "a") == (
        Code.EXCEEDS_REMAINING_BUDGET,
        "is expected to cost 2.00 USD, and budget narrow has 0.50 left",
        {"need_usd": 2.0, "left_usd": 0.5, "budget": "narrow"},
    )


def test_amounts_that_cents_do_not_tell_apart_are_told_exactly() -> None:
    s = market(offering("a", "2.001"), runs=[wants("x")], policy=budgets(purse("2.0005")))
    assert says(s, "x", "a").message == (
        "is expected to cost 2.001 USD, and budget b has 2.0005 left"
    )


AMOUNTS = ("0", "0.999999", "1", "1.5", "2", "2.000001", "3", "4.5")


def tries(rates: list[str], wanted: list[str]) -> Iterator[dict[str, int]]:
    """Yield what each workspace spends, for each way to give each run an offering or none."""
    micro = [int(float(rate) * 10**6 + 0.5) for rate in rates]
    for chosen in product([None, *range(len(rates))], repeat=len(wanted)):
        used = [host for host in chosen if host is not None]
        if len(used) == len(set(used)):
            told = dict.fromkeys(wanted, 0)
            for workspace, host in zip(wanted, chosen, strict=True):
                told[workspace] += 0 if host is None else micro[host]
            yield {**told, "runs": len(used)}


@examples(60)
@given(st.data())
def test_as_many_start_as_all_purses_allow_at_once(data: st.DataObject) -> None:
    """Brute force: budgets over both workspaces and over one, and a balance, all at once."""
    rates = data.draw(st.lists(st.sampled_from(("1", "0", "1.5", "2")), min_size=1, max_size=3))
    wanted = data.draw(st.lists(st.sampled_from(("u", "v")), min_size=1, max_size=4))
    both, one, own = (data.draw(st.sampled_from(AMOUNTS)) for _ in range(3))
    s = market(
        *(offering(f"o{n}", rate) for n, rate in enumerate(rates)),
        runs=[wants(f"r{n}") | {"workspace": w} for n, w in enumerate(wanted)],
        policy={
            "budgets": [purse(both, "both", "u", "v"), purse(one, "one", "u")],
            "workspaces": [{"name": "u", "balance_usd": own}, {"name": "v"}],
        },
    )
    most_of = [int(float(usd) * 10**6 + 0.5) for usd in (both, one, own)]
    best = max(
        told["runs"]
        for told in tries(rates, wanted)
        if told.get("u", 0) + told.get("v", 0) <= most_of[0]
        and told.get("u", 0) <= min(most_of[1:])
    )
    assert solve(s).summary.placed == best


def test_what_costs_nothing_has_room_though_nothing_is_left() -> None:
    s = market(
        offering("a"), runs=[wants("x")], machines=[machine("m", 2)], policy=budgets(purse("0"))
    )
    assert Layout(grid_of(s)).slots(0).tolist() == [2]


@pytest.mark.parametrize(
    ("left", "afforded"),
    [
        # What costs more than is left by itself isn't among its hosts at all.
        ("0", {"m": 1}),
        ("0.999999", {"m": 1}),
        ("1", {"m": 1, "a": 1}),
        ("2.5", {"m": 1, "a": 2, "b": 0}),
        ("4.5", {"m": 1, "a": 3, "b": 1}),
        ("9", {"m": 1, "a": 3, "b": 3}),
    ],
)
def test_workers_are_afforded_in_turn_until_the_money_is_spent(
    left: str, afforded: dict[str, int]
) -> None:
    s = market(
        offering("a", "1", available=3),
        offering("b", "1.5", available=3),
        runs=[wants("x") | {"array": {"size": 7}}],
        policy=budgets(purse(left), purse("99", "wide")),
        machines=[machine("m", 1)],
    )
    layout = Layout(grid_of(s))
    names = [layout.grid.hosts[place].name for place in layout.grid.where[0].tolist()]
    at = [names.index(name) for name in ("m", "a", "b") if name in names]
    wanted = [{"m": 1}.get(names[position], 3) for position in at]
    paid = layout.afforded(0, np.array(at), np.array(wanted))
    told = dict(zip((names[position] for position in at), paid.tolist(), strict=True))
    assert told == afforded


def test_all_that_is_left_can_be_spent_where_much_more_could_be() -> None:
    # 3,000 elements of 1,000,000 USD each are 3e15 micro-dollars. One is what is left.
    s = market(
        offering("a", "1000000", available=3000),
        runs=[wants("r") | {"array": {"size": 3000}}],
        policy=budgets(purse("1000000")),
    )
    decision = solve(s)
    (outcome,) = decision.outcomes
    assert isinstance(outcome, PlacedRun)
    assert len(outcome.workers) == 1
    assert audit(s, decision) == ()


VAST = "999999999999"


def test_what_cannot_be_overdrawn_may_hold_any_amount() -> None:
    # On either of nine hosts it costs a billion USD: all nine at once are more than a row holds.
    hosts = [offering(f"a{n}", "1000000000") for n in range(10)]
    assert starts(market(*hosts, runs=[wants("x")], policy=budgets(purse(VAST))))


@pytest.mark.parametrize(
    ("policy", "field"),
    [
        (budgets(purse(VAST)), "policy.budgets[b].remaining_usd"),
        (
            {"workspaces": [{"name": "default", "balance_usd": VAST}]},
            "policy.workspaces[default].balance_usd",
        ),
    ],
)
def test_more_than_can_be_added_up_is_refused_by_the_name_of_the_purse(
    policy: Document, field: str
) -> None:
    array = wants("x") | {"array": {"size": 2}}
    with pytest.raises(InvalidInput, match=re.escape(field)):
        solve(market(offering("a", VAST, available=2), runs=[array], policy=policy))
