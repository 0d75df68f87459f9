from __future__ import annotations

from typing import Any

from stowplan.model.reasons import Code
from tests.build import Document, machine, market, offering, run, snapshot, wants
from tests.solver.cycles import headline, outcome_of, places, says, starts, told, waits

X: Document = {"workspaces": [{"name": "w", "pools": ["x"]}]}


def _in(pool: str | None, name: str = "m", **more: Any) -> Document:
    return machine(name, labels={"pool": pool} if pool else {}, **more)


def test_a_run_goes_to_a_machine_of_its_pools() -> None:
    machines = [_in("y"), _in("x", "n"), _in(None, "o")]
    assert places(snapshot(machines, [run("a", workspace="w")], policy=X)) == {"a": ["n"]}


def test_a_workspace_without_a_list_of_pools_uses_all_machines() -> None:
    s = snapshot([_in("y")], [run("a", workspace="v")], policy=X)
    assert starts(s) == {"a"}


def test_machines_outside_are_neither_listed_nor_counted() -> None:
    machines = [_in("y"), _in("x", "n", used={"cpu_cores": 64}), _in("y", "o", state="down")]
    s = snapshot(machines, [run("a", workspace="w", cpu_cores=1)], policy=X)
    waiting = waits(s, "a")
    assert [each.hosts for each in waiting.hosts] == [("n",)]
    assert (waiting.hosts_checked, waiting.hosts_ready, waiting.hosts_down) == (1, 1, 0)


def test_a_machine_outside_that_the_run_names_is_listed() -> None:
    machines = [_in("y"), _in("x", "n", state="down")]
    asked = run("a", workspace="w", node_selection={"names": ["m"]})
    s = snapshot(machines, [asked], policy=X)
    text = "in pool y; workspace w may use x"
    numbers = {"pool": "y", "pools": ("x",)}
    assert says(s, "a", "m") == (Code.POOL_MISMATCH, text, numbers)
    assert headline(s, "a") == (
        Code.POOL_MISMATCH,
        f"the nearest, m: {text} (1 more won't do either)",
        numbers,
    )
    assert waits(s, "a").hosts_checked == 2


def test_a_machine_in_no_pool_says_so() -> None:
    asked = run("a", workspace="w", node_selection={"names": ["m"]})
    s = snapshot([_in(None), _in("x", "n")], [asked], policy=X)
    assert says(s, "a", "m") == (
        Code.POOL_MISMATCH,
        "in no pool; workspace w may use x",
        {"pool": None, "pools": ("x",)},
    )


def test_the_pool_that_a_machine_is_reserved_for_is_its_pool() -> None:
    kept = machine("m", reserved_for={"pool": "x"})
    asked = run("a", workspace="w", node_selection={"match_labels": {"pool": "x"}})
    assert starts(snapshot([kept], [asked], policy=X)) == {"a"}


def test_pools_that_leave_no_machine_refuse_the_run() -> None:
    s = snapshot([_in("y")], [run("a", workspace="w")], policy=X)
    outcome = outcome_of(s, "a")
    assert outcome.outcome == "refused"
    assert told(outcome.reason) == (
        Code.POOL_RESTRICTED,
        "workspace w may use x only, and no machine is in it",
        {"pools": ("x",)},
    )


def test_two_runs_of_a_pool_do_not_both_fit_in_it_though_each_does() -> None:
    runs = [run(name, workspace="w", cpu_cores=40) for name in "ab"]
    s = snapshot([_in("x"), _in("y", "n")], runs, policy=X)
    assert len(starts(s)) == 1


def test_pools_keep_no_run_off_an_offering() -> None:
    asked = wants("a") | {"workspace": "w"}
    s = market(offering("o"), runs=[asked], machines=[_in("y", gpus=1)], policy=X)
    assert places(s) == {"a": ["o#1"]}


def test_without_a_machine_in_its_pools_a_workspace_waits_for_an_offering_and_is_not_refused() -> (
    None
):
    asked = wants("a") | {"workspace": "w"}
    s = market(offering("o", available=0), runs=[asked], machines=[_in("y", gpus=1)], policy=X)
    assert headline(s, "a").code == Code.NO_CAPACITY_NOW
    refused = outcome_of(market(runs=[asked], machines=[_in("y", gpus=1)], policy=X), "a")
    assert refused.outcome == "refused"
    assert refused.reason.code == Code.POOL_RESTRICTED
