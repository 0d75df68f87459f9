from __future__ import annotations

import pytest

from stowplan.model.reasons import Code
from tests.build import Document, machine, market, offering, run, snapshot, wants
from tests.solver.cycles import headline, outcome_of, places, row, says, starts, told, waits


def test_a_run_goes_to_the_machine_that_it_names() -> None:
    machines = [machine("m"), machine("n"), machine("o")]
    s = snapshot(machines, [run("a", node_selection={"names": ["n"]})])
    assert places(s) == {"a": ["n"]}


def test_a_run_waits_for_the_machine_that_it_names_while_another_has_room() -> None:
    machines = [machine("m", used={"cpu_cores": 64}), machine("n")]
    s = snapshot(machines, [run("a", cpu_cores=1, node_selection={"names": ["m"]})])
    assert says(s, "a", "n") == (
        Code.NOT_SELECTED,
        "not among the machines that the run names",
        {},
    )
    assert headline(s, "a").code == Code.INSUFFICIENT_CPU
    assert waits(s, "a").closest == "m"


def test_the_named_machine_is_the_nearest_though_it_is_down() -> None:
    machines = [machine("m", state="down"), machine("n"), machine("o")]
    s = snapshot(machines, [run("a", node_selection={"names": ["m"]})])
    assert headline(s, "a") == (
        Code.MACHINE_DOWN,
        "the nearest, m: down (2 more won't do either)",
        {},
    )


@pytest.mark.parametrize("mode", ["exact", "any"])
def test_with_a_count_so_many_of_the_named_machines_are_used(mode: str) -> None:
    machines = [machine(name, cpu_cores=1) for name in "mnop"]
    named = {"names": ["m", "n", "p"], "count": 2, "mode": mode}
    hosts = places(snapshot(machines, [run("a", cpu_cores=1, node_selection=named)]))["a"]
    assert len(set(hosts)) == 2
    assert set(hosts) < {"m", "n", "p"}


def test_names_alone_ask_for_a_worker_on_each() -> None:
    machines = [machine(name) for name in "mno"]
    s = snapshot(machines, [run("a", node_selection={"names": ["o", "m"]})])
    assert sorted(places(s)["a"]) == ["m", "o"]


def test_names_of_mode_any_ask_for_one_worker_on_any_of_them() -> None:
    machines = [machine("m", state="cordoned"), machine("n"), machine("o")]
    s = snapshot(machines, [run("a", node_selection={"names": ["m", "n"], "mode": "any"})])
    assert places(s) == {"a": ["n"]}


def test_a_name_that_no_machine_has_is_refused_with_the_nearest() -> None:
    s = snapshot([machine("gpu-01")], [run("a", node_selection={"names": ["gpu-1"]})])
    outcome = outcome_of(s, "a")
    assert outcome.outcome == "refused"
    assert told(outcome.reason) == (
        Code.NOT_SELECTED,
        "no machine is called 'gpu-1'; did you mean 'gpu-01'?",
        {"unknown": ("gpu-1",), "nearest": "gpu-01"},
    )


def test_a_name_is_kept_waiting_for_in_a_fleet_without_machines() -> None:
    s = snapshot([], [run("a", node_selection={"names": ["m"]})])
    assert outcome_of(s, "a").outcome == "waiting"


def test_two_runs_that_name_one_machine_share_its_room() -> None:
    named: Document = {"node_selection": {"names": ["m"]}, "cpu_cores": 33}
    runs = [run("a", **named), run("b", **named), run("c", cpu_cores=31)]
    s = snapshot([machine("m"), machine("n")], runs)
    assert len(starts(s) & {"a", "b"}) == 1
    assert "c" in starts(s)


def test_the_reasons_of_a_host_that_is_not_named_are_kept_too() -> None:
    machines = [machine("m", used={"cpu_cores": 64}), machine("n", cpu_cores=1)]
    s = snapshot(machines, [run("a", cpu_cores=2, node_selection={"names": ["m"]})])
    codes = [reason.code for reason in row(s, "a", "n")]
    assert codes == [Code.NOT_SELECTED, Code.INSUFFICIENT_CPU]


def test_an_offering_is_never_a_machine_that_a_run_names() -> None:
    named = wants("a") | {"node_selection": {"names": ["m"]}}
    s = market(offering("o"), runs=[named], machines=[machine("m", 1)])
    assert places(s) == {"a": ["m"]}
    full = market(offering("o"), runs=[named], machines=[machine("m", 1, state="down")])
    assert says(full, "a", "o") == (
        Code.NOT_SELECTED, "not among the machines that the run names", {},
    )  # fmt: skip
