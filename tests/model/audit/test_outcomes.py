from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from stowplan.model.audit import audit
from stowplan.model.decision import ArrayCount, StayingRun, Summary
from stowplan.model.reasons import Code, Reason
from tests.build import (
    Place,
    after,
    altered,
    broken,
    decided,
    machine,
    resolved,
    run,
    running,
    snapshot,
    waiting,
)
from tests.model.audit.bought import by_rate, market, offering, priced, rented, with_rate, work

MACHINES = [machine("m", 4)]


def test_each_run_has_one_outcome() -> None:
    s = snapshot(MACHINES, [run("a", 1), run("b", 1)])
    a, b = decided(s, {"a": [("m", 1)]}).outcomes
    assert audit(s, resolved(s, [a, b])) == ()
    assert audit(s, resolved(s, [b, a])) == ()
    assert broken(s, resolved(s, [a])) == {"outcomes"}
    assert broken(s, resolved(s, [a, b, b])) == {"outcomes"}


def test_a_run_that_nobody_asked_for_has_no_outcome() -> None:
    s = snapshot(MACHINES, [run("a", 1)])
    assert broken(s, resolved(s, [waiting(s, "a"), waiting(s, "b")])) == {"outcomes"}


@pytest.mark.parametrize("outcome", ["kept", "held", "withdrawn"])
def test_a_pending_run_does_not_stay(outcome: Any) -> None:
    s = snapshot(MACHINES, [run("a", 1)])
    stays = StayingRun(run="a", outcome=outcome, reason=Reason.of(Code.OK, "it runs"))
    assert broken(s, resolved(s, [stays])) == {"outcomes"}


def test_a_run_that_could_be_served_some_day_is_not_refused() -> None:
    s = snapshot(MACHINES, [run("a", 9)])
    assert audit(s, decided(s)) == ()
    assert broken(s, decided(s, refused={"a": Code.INSUFFICIENT_GPUS})) == {"outcomes"}
    assert broken(s, decided(s, refused={"a": Code.UNEVEN_SHAPE})) == {"outcomes"}


def test_a_run_that_no_change_of_the_fleet_helps_is_refused_with_its_code() -> None:
    runs = [
        run("uneven", 3, machines=2),
        run("lost", node_selection={"names": ["n"]}),
        run("poolless", workspace="vision"),
    ]
    policy = {"workspaces": [{"name": "vision", "pools": ["b200"]}]}
    s = snapshot(MACHINES, runs, policy=policy)
    right = {
        "uneven": Code.UNEVEN_SHAPE,
        "lost": Code.NOT_SELECTED,
        "poolless": Code.POOL_RESTRICTED,
    }
    assert audit(s, decided(s, refused=right)) == ()
    for name in right:
        others = {other: code for other, code in right.items() if other != name}
        assert broken(s, decided(s, refused=others)) == {"outcomes"}
        assert broken(s, decided(s, refused=right | {name: Code.UNKNOWN})) == {"outcomes"}


def test_in_an_empty_fleet_names_and_pools_refuse_nobody() -> None:
    runs = [run("a", node_selection={"names": ["n"]}), run("b", workspace="vision")]
    s = snapshot([], runs, policy={"workspaces": [{"name": "vision", "pools": ["b200"]}]})
    assert audit(s, decided(s)) == ()


def test_a_placed_run_has_a_worker() -> None:
    s = snapshot(MACHINES, [run("a", 1, array={"size": 2})])
    right = decided(s, {"a": [("m", 1)]})
    nowhere = altered(s, right, "a", workers=(), array=ArrayCount(running=0, placed=0, waiting=2))
    assert broken(s, nowhere) == {"outcomes"}


@pytest.mark.parametrize(
    "summary",
    [
        {"placed": 2},
        {"waiting": 0},
        {"kept": 0},
        {"held": 1},
        {"refused": 1},
        {"withdrawn": 1},
        {"gpus_placed": 4},
    ],
)
def test_the_summary_counts_what_is_there(summary: dict[str, int]) -> None:
    s = snapshot(MACHINES, [run("a", 2), run("b", 4), running("c", ("m", ["m/3"]))])
    right = decided(s, {"a": [("m", 2)]})
    assert right.summary == Summary(placed=1, waiting=1, kept=1, gpus_placed=2)
    assert audit(s, right) == ()
    wrong = right.summary.model_copy(update=summary)
    assert broken(s, right.model_copy(update={"summary": wrong})) == {"outcomes"}


@pytest.mark.parametrize(
    "field",
    [{"snapshot": "another"}, {"now": dt.datetime.fromisoformat(after(1))}, {"generation": 3}],
)
def test_the_decision_says_what_it_was_made_on(field: dict[str, object]) -> None:
    s = snapshot(MACHINES, [run("a", 2)], generation=4)
    assert broken(s, decided(s).model_copy(update=field)) == {"outcomes"}


@pytest.mark.parametrize("wrong", [(0, 1, 2), (1, 0, 2), (1, 1, 3), None])
def test_an_array_counts_its_elements(wrong: tuple[int, int, int] | None) -> None:
    array = running("a", ("m", ["m/0"], 1), array={"size": 5, "finished": [0]})
    s = snapshot(MACHINES, [array])
    right = decided(s, {"a": [("m", ["m/1"])]})
    [outcome] = right.outcomes
    count = ArrayCount(running=1, placed=1, waiting=2)
    assert outcome.array == count  # type: ignore[union-attr]  # it is placed
    assert audit(s, right) == ()
    told = wrong and ArrayCount(running=wrong[0], placed=wrong[1], waiting=wrong[2])
    assert broken(s, altered(s, right, "a", array=told)) == {"outcomes"}


def test_a_run_that_is_no_array_counts_no_elements() -> None:
    s = snapshot(MACHINES, [run("a", 1)])
    told = ArrayCount(running=0, placed=0, waiting=1)
    assert broken(s, altered(s, decided(s), "a", array=told)) == {"outcomes"}


def test_an_array_with_nothing_left_waits_or_is_kept_as_done() -> None:
    s = snapshot(MACHINES, [run("a", 1, array={"size": 1, "finished": [0]})])
    count = ArrayCount(running=0, placed=0, waiting=0)
    assert audit(s, decided(s)) == ()
    done = StayingRun(
        run="a", outcome="kept", reason=Reason.of(Code.OK, "every element ended"), array=count
    )
    assert audit(s, resolved(s, [done])) == ()
    more = snapshot(MACHINES, [run("a", 1, array={"size": 2, "finished": [0]})])
    left = done.model_copy(update={"array": ArrayCount(running=0, placed=0, waiting=1)})
    assert broken(more, resolved(more, [left])) == {"outcomes"}


def test_a_run_waits_at_the_time_of_the_decision() -> None:
    s = snapshot(MACHINES, [run("a", 1)])
    later = dt.datetime.fromisoformat(after(1))
    assert broken(s, altered(s, decided(s), "a", evaluated_at=later)) == {"outcomes"}


def test_a_run_whose_pools_hold_no_machine_is_refused_even_where_it_names_one() -> None:
    selection = {"names": ["m"]}
    one = run("a", workspace="vision", node_selection=selection)
    policy = {"workspaces": [{"name": "vision", "pools": ["b200"]}]}
    s = snapshot(MACHINES, [one], policy=policy)
    assert audit(s, decided(s, refused={"a": Code.POOL_RESTRICTED})) == ()
    assert broken(s, decided(s)) == {"outcomes"}


def test_the_summary_tells_what_is_paid_an_hour() -> None:
    # Both instances, at 3.60 and 7.20, and the machine at 2 once, whatever starts on it.
    runs = [work(name) for name in "abcd"]
    s = market([offering(), offering("b200", "7.20")], runs, [rented(rate="2")])
    places: dict[str, list[Place]] = {
        "a": [("a100#1", 1)],
        "b": [("b200#1", 1)],
        "c": [("m", ["m/0"])],
        "d": [("m", ["m/1"])],
    }
    rates = {"a": "3.60", "b": "7.20", "c": "2", "d": "2"}
    values = {name: by_rate(rate) for name, rate in rates.items()}
    right = priced(s, places, "12.80", values=values)
    assert audit(s, right) == ()
    for wrong in ("0", "10.80", "14.80", "12.81"):
        assert broken(s, with_rate(right, wrong)) == {"outcomes"}


def test_a_machine_on_which_something_runs_was_paid_for_before() -> None:
    s = market([], [running("r", ("m", 1)), work("a")], [rented()])
    free = {"a": by_rate("0")}  # it is billed for the other run
    assert audit(s, priced(s, {"a": [("m", ["m/1"])]}, "0", values=free)) == ()
    assert broken(s, priced(s, {"a": [("m", ["m/1"])]}, "3.60", values=free)) == {"outcomes"}


def test_a_machine_of_your_own_pool_adds_nothing_to_what_is_paid() -> None:
    s = market([], [work("a")], [rented(byoc_pool="lab")])
    assert audit(s, priced(s, {"a": [("m", 1)]}, "0")) == ()
    free = {"a": by_rate("0")}
    assert broken(s, priced(s, {"a": [("m", 1)]}, "3.60", values=free)) == {"outcomes"}


def test_where_something_can_be_bought_pools_without_a_machine_refuse_nobody() -> None:
    policy = {"workspaces": [{"name": "default", "pools": ["b200"]}]}
    s = market([offering()], [work("a")], [machine("m")], policy=policy)
    assert audit(s, decided(s)) == ()
    assert broken(s, decided(s, refused={"a": Code.POOL_RESTRICTED})) == {"outcomes"}
