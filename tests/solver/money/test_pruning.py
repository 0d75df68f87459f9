"""Pruning loses nothing: what is placed and what it is worth stay the same."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stowplan
from stowplan.model.decision import PlacedRun
from stowplan.model.snapshot import Snapshot
from stowplan.solver import stages
from stowplan.solver.grid import Grid
from stowplan.solver.money.pruning import pruned
from tests.build import Document, machine, market, offering, run, wants
from tests.money_oracle import value_of
from tests.money_strategies import money_snapshots
from tests.solver.cycles import grid_of
from tests.strategies import examples


def whole(grid: Grid) -> Grid:
    return grid


def kept(snapshot: Snapshot) -> list[list[str]]:
    grid = pruned(grid_of(snapshot))
    return [[grid.hosts[place].name for place in there.tolist()] for there in grid.where]


def test_as_many_hosts_stay_as_could_be_taken_by_others_and_what_is_as_good() -> None:
    # Two runs: whatever one takes, a1 or a2 is left to the other; a3 is within 2 % of a2.
    rates = {"a1": "1.00", "a2": "1.10", "a3": "1.12", "a4": "1.13"}
    offered = [offering(name, rate) for name, rate in rates.items()]
    s = market(*offered, runs=[wants("x"), wants("y", profile="cost")])
    assert kept(s) == [["a1", "a2", "a3"], ["a1", "a2", "a3"]]


def test_runs_that_want_other_hosts_are_no_rivals() -> None:
    a100 = {"model": "A100", "memory_gb": 80, "count": 1}
    s = market(
        *(offering(f"h{n}", f"1.{n}0") for n in range(3)),
        *(offering(f"a{n}", f"1.{n}0", accelerator=a100) for n in range(3)),
        runs=[
            run("x", {"count": 1, "models": ["H100"]}, expected_duration_s=60),
            run("y", {"count": 1, "models": ["A100"]}, expected_duration_s=60),
        ],
    )
    assert kept(s) == [["h0"], ["a0"]]


def test_where_money_may_run_short_a_cheaper_host_stays_though_it_is_worse() -> None:
    # quick ends sooner, for 3.00; slow costs 2.00. Two times quick are a dollar too much.
    slow = {"boot_p50_s": 3600, "boot_p90_s": 3600, "warm_s": 0}
    hosts = [
        offering("quick", "3.00", available=9),
        offering("slow", "1.00", available=9, startup=slow),
    ]
    runs = [wants("x", profile="speed"), wants("y", profile="speed")]
    ample = market(*hosts, runs=runs)
    assert kept(ample) == [["quick"]]
    budget = {"name": "b", "workspaces": ["default"], "remaining_usd": "5"}
    short = market(*hosts, runs=runs, policy={"budgets": [budget]})
    assert kept(short) == [["quick", "slow"]]
    assert stowplan.solve(short).summary.placed == 2


def agree(snapshot: Snapshot) -> None:
    """What is placed weighs as much, meets as many wishes, and is regretted as little."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "pruned", whole)
        unpruned = stowplan.solve(snapshot)
    assert value_of(snapshot, stowplan.solve(snapshot)) == value_of(snapshot, unpruned)


@examples(50)
@given(money_snapshots())
def test_what_is_placed_is_worth_the_same_without_it(snapshot: Snapshot) -> None:
    agree(snapshot)


@pytest.mark.long
@examples(int(os.environ.get("STOWPLAN_FUZZ_EXAMPLES", "20000")), is_long=True)
@given(money_snapshots(max_offerings=4))
def test_what_is_placed_is_worth_the_same_without_it_on_many(snapshot: Snapshot) -> None:
    agree(snapshot)


TIGHT: dict[str, Any] = {
    "max_offerings": 4, "always": ("budgets", "balances", "profiles"),
}  # fmt: skip


def objectives(snapshot: Snapshot) -> dict[str, float]:
    """Return what place and value come to."""
    stages_of = stowplan.solve(snapshot).solver.stages
    return {each.name: each.objective for each in stages_of if each.name in ("place", "value")}


@examples(30)
@given(money_snapshots(**TIGHT))
def test_where_money_runs_short_place_and_value_come_to_the_same_without_it(
    snapshot: Snapshot,
) -> None:
    agree(snapshot)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "pruned", whole)
        unpruned = objectives(snapshot)
    assert objectives(snapshot) == unpruned


@pytest.mark.long
@examples(int(os.environ.get("STOWPLAN_FUZZ_EXAMPLES", "20000")), is_long=True)
@given(money_snapshots(**TIGHT))
def test_where_money_runs_short_it_is_worth_the_same_without_it_on_many(
    snapshot: Snapshot,
) -> None:
    agree(snapshot)


def test_machines_always_stay() -> None:
    s = market(
        offering("a", "1", available=9),
        runs=[wants("x", profile="cost")],
        machines=[machine("dear", 1, rate_usd_per_hour="9")],
    )
    assert kept(s) == [["dear", "a"]]


def test_an_array_counts_as_many_workers_as_it_has_elements() -> None:
    rates = {"a": "1", "b": "2", "c": "3", "d": "4"}
    hosts = [offering(name, rate, available=2) for name, rate in rates.items()]
    s = market(*hosts, runs=[wants("r") | {"array": {"size": 5}}])
    assert kept(s) == [["a", "b", "c"]]


def test_where_money_may_run_short_what_is_dearer_and_worse_still_goes() -> None:
    # Two runs may overdraw 5.00 on quick (2.90 each): of the later ones, slow costs 2.00 and holds
    # both, so that slower (2.40) isn't needed; two instances of it at 1.95 are: they cost less.
    def boots(seconds: int) -> dict[str, int]:
        return {"boot_p50_s": seconds, "boot_p90_s": seconds, "warm_s": 0}

    def hosts(slowest: str) -> list[list[str]]:
        return kept(
            market(
                offering("quick", "2.9", available=2),
                offering("slow", "1", available=2, startup=boots(3600)),
                offering("slower", slowest, available=2, startup=boots(7200)),
                runs=[wants("x", profile="speed"), wants("y", profile="speed")],
                policy={
                    "budgets": [{"name": "b", "workspaces": ["default"], "remaining_usd": "5"}]
                },
            )
        )

    assert hosts("0.8") == [["quick", "slow"]]
    assert hosts("0.65") == [["quick", "slow", "slower"]]


def test_a_run_that_has_money_is_left_a_host_by_one_that_is_short_of_it() -> None:
    # x and y have 5.00 together: not two times quick (2.90), but quick and slow (two hours at
    # 1.00). Then z, which has a budget of nobody, needs slower, though slow alone is its best.
    boots = {"boot_p50_s": 3600, "boot_p90_s": 3600, "warm_s": 0}
    short = {"workspace": "w"}
    s = market(
        offering("quick", "2.90", available=3),
        offering("slow", "1.00", startup=boots),
        offering("slower", "1.50", available=2, startup=boots),
        runs=[
            wants("x", profile="speed") | short,
            wants("y", profile="speed") | short,
            wants("z"),
        ],
        policy={"budgets": [{"name": "b", "workspaces": ["w"], "remaining_usd": "5"}]},
    )
    agree(s)
    assert stowplan.solve(s).summary.placed == 3


@st.composite
def some_short_and_some_not(draw: st.DrawFn) -> Snapshot:
    """Return two runs that can't both have what is quick, and others that want what is slow.

    What is quick is dear; what starts later costs less. In every other draw profiles, workspaces
    and hosts are more mixed.
    """
    is_mixed = draw(st.booleans())

    def one[T](*values: T) -> T:
        return draw(st.sampled_from(values))

    def mixed[T](plain: tuple[T, ...], *more: T) -> T:
        return one(*plain, *(more if is_mixed else ()))

    def host(name: str, rates: tuple[str, ...], *boots_s: int) -> Document:
        boot_s = mixed(boots_s[:1], *boots_s)
        boots = {"boot_p50_s": boot_s, "boot_p90_s": boot_s, "warm_s": 0}
        written = offering(name, one(*rates), available=one(1, 2, 3), startup=boots)
        spot = mixed((False,), False, True)
        return written | {"health": mixed((1,), 0.9), "interruptible": spot}

    hosts = [
        host("quick", ("2.90", "2.50", "3.20"), 0),
        host("mid", ("2.20", "1.20"), 1800),
        host("slow", ("1", "1.10", "0.60"), 3600),
        host("slower", ("1.50", "1.40", "1.80"), 3600, 7200),
    ]
    if is_mixed:
        hosts.append(host("other", ("1.02", "1.53", "2.24"), 0, 1800, 3600))
    runs = [
        wants(name, profile=mixed(("speed",), "balanced", "cost"))
        | {"workspace": mixed(("w",), "w", "u")}
        for name in "xy"
    ]
    for name in "zq"[: one(1, 2)]:
        interruptible = mixed(("allow",), "prefer", "never")
        written = wants(name, profile=one("balanced", "cost"), interruptible=interruptible)
        runs.append(written | {"workspace": mixed(("t", "u"), "w")})
    budgets = [
        {"name": "b", "workspaces": ["w"], "remaining_usd": one("5", "4.90", "5.50")},
        {"name": "c", "workspaces": ["w", "u"], "remaining_usd": one("7", "6.50", "8", "20")},
    ]
    return market(*hosts, runs=runs, policy={"budgets": budgets})


@examples(75)
@given(some_short_and_some_not())
def test_where_some_are_short_of_money_the_others_lose_nothing(snapshot: Snapshot) -> None:
    agree(snapshot)


@pytest.mark.long
@examples(int(os.environ.get("STOWPLAN_FUZZ_EXAMPLES", "20000")), is_long=True)
@given(some_short_and_some_not())
def test_where_some_are_short_of_money_the_others_lose_nothing_on_many(snapshot: Snapshot) -> None:
    agree(snapshot)


def test_of_hosts_kept_for_their_cost_those_as_good_stay_too() -> None:
    # x and y have 4.30 together: not two times `long` (three hours at 1.00), the lowest rate. One
    # of them is on `short` or, as it is sounder and within 2 % of that, on `sound`.
    boots = {"boot_p50_s": 7200, "boot_p90_s": 7200, "warm_s": 0}
    s = market(
        offering("long", "1.00", available=9, startup=boots),
        offering("short", "1.20", available=9, health=0.9),
        offering("sound", "1.21", available=9),
        runs=[wants("x"), wants("y")],
        policy={"budgets": [{"name": "b", "workspaces": ["default"], "remaining_usd": "4.30"}]},
    )
    assert kept(s) == [["long", "short", "sound"]]
    decision = stowplan.solve(s)
    hosts = {each.workers[0].host for each in decision.outcomes if isinstance(each, PlacedRun)}
    assert hosts == {"long#1", "sound#1"}
