from __future__ import annotations

import pytest

from stowplan.model.audit import audit
from stowplan.model.decision import ChosenShape, PlacedRun
from stowplan.model.reasons import Code
from tests.build import (
    GIB,
    Document,
    Place,
    after,
    altered,
    broken,
    card,
    decided,
    machine,
    run,
    running,
    snapshot,
)
from tests.model.audit.bought import by_rate, market, offering, priced, rented, work

MACHINES = [machine("m", 8), machine("n", 8), machine("o", 8)]


def test_a_run_starts_on_as_many_machines_as_it_asks_for() -> None:
    s = snapshot(MACHINES, [run("a", machines=2), run("b", node_selection={"count": 3})])
    places = {"a": [("m", 0), ("n", 0)], "b": [("m", 0), ("n", 0), ("o", 0)]}
    assert audit(s, decided(s, places)) == ()


def test_a_run_that_loses_or_gains_a_worker_is_refused() -> None:
    s = snapshot(MACHINES, [run("a", machines=2)])
    assert broken(s, decided(s, {"a": [("m", 0)]})) == {"machines"}
    assert broken(s, decided(s, {"a": [("m", 0), ("n", 0), ("o", 0)]})) == {"machines"}


def test_a_run_without_machines_has_one_worker() -> None:
    s = snapshot(MACHINES, [run("a"), run("b", 2)])
    assert audit(s, decided(s, {"a": [("m", 0)], "b": [("n", 2)]})) == ()
    assert broken(s, decided(s, {"a": [("m", 0), ("n", 0)]})) == {"machines"}


def test_exact_names_without_a_count_are_one_worker_each() -> None:
    s = snapshot(MACHINES, [run("a", node_selection={"names": ["m", "o"]})])
    assert audit(s, decided(s, {"a": [("m", 0), ("o", 0)]})) == ()
    assert broken(s, decided(s, {"a": [("m", 0)]})) == {"machines"}


def test_names_with_a_count_are_so_many_of_the_named() -> None:
    s = snapshot(MACHINES, [run("a", node_selection={"names": ["m", "n", "o"], "count": 2})])
    assert audit(s, decided(s, {"a": [("m", 0), ("o", 0)]})) == ()
    assert broken(s, decided(s, {"a": [("m", 0), ("n", 0), ("o", 0)]})) == {"machines"}


def test_names_in_mode_any_are_one_worker_on_any_of_them() -> None:
    s = snapshot(MACHINES, [run("a", node_selection={"names": ["m", "n"], "mode": "any"})])
    assert audit(s, decided(s, {"a": [("n", 0)]})) == ()
    assert broken(s, decided(s, {"a": [("m", 0), ("n", 0)]})) == {"machines"}


def test_a_run_whose_gpus_do_not_divide_never_starts() -> None:
    s = snapshot(MACHINES, [run("a", 3, machines=2)])
    assert audit(s, decided(s, refused={"a": Code.UNEVEN_SHAPE})) == ()
    places = {"a": [("m", 2), ("n", 1)]}
    assert broken(s, decided(s, places)) == {"machines"}


@pytest.mark.parametrize(
    "asked",
    [
        run("a", {"count": 2, "min_per_machine": 4}),
        run("a", 4, machines=2, topology={"min_nodes": 3}),
        run("a", 7, topology={"min_nodes": 2, "max_nodes": 6}),
        run("a", {"count": 3, "policy": "per_node"}, machines=1),
        run("a", 4, node_selection={"mode": "all"}, topology={"max_nodes": 2}),
        run("a", 4, node_selection={"mode": "all"}),
        run("a", topology={"min_nodes": 2}),
    ],
    ids=str,
)
def test_a_run_for_which_no_shape_is_left_is_refused(asked: Document) -> None:
    s = snapshot(MACHINES, [asked])
    assert audit(s, decided(s, refused={"a": Code.UNEVEN_SHAPE})) == ()
    assert broken(s, decided(s)) == {"outcomes"}


@pytest.mark.parametrize(
    "asked",
    [
        run("a", 4, node_selection={"mode": "all", "names": ["m", "n"]}),
        run("a", 4, topology={"min_nodes": 2, "max_nodes": 3}),
        run("a", {"count": 3, "policy": "per_node"}, topology={"min_nodes": 2}),
        run("a", {"count": 4, "min_per_machine": 2}, topology={}),
    ],
    ids=str,
)
def test_a_run_for_which_some_shape_is_left_is_not_refused(asked: Document) -> None:
    s = snapshot(MACHINES, [asked])
    assert audit(s, decided(s)) == ()
    assert broken(s, decided(s, refused={"a": Code.UNEVEN_SHAPE})) == {"outcomes"}


def test_gpus_are_split_evenly_over_as_many_machines_as_divide_them() -> None:
    s = snapshot(MACHINES, [run("a", 6, topology={})])
    for count in (1, 2, 3):
        places = [(name, 6 // count) for name in "mno"[:count]]
        assert audit(s, decided(s, {"a": places})) == ()


def test_gpus_that_do_not_divide_over_the_workers_are_refused() -> None:
    s = snapshot(MACHINES, [run("a", 4, topology={})])
    assert broken(s, decided(s, {"a": [("m", 2), ("n", 1), ("o", 1)]})) == {"machines"}
    assert broken(s, decided(s, {"a": [("m", 3), ("n", 1)]})) == {"machines", "room"}


def test_per_node_has_a_power_of_two_on_each_machine() -> None:
    s = snapshot(MACHINES, [run("a", {"count": 6, "policy": "per_node"}, topology={})])
    assert audit(s, decided(s, {"a": [("m", 2), ("n", 2), ("o", 2)]})) == ()
    assert broken(s, decided(s, {"a": [("m", 3), ("n", 3)]})) == {"machines"}
    six: list[Place] = [
        ("m", ["m/0"]),
        ("m", ["m/1"]),
        ("n", ["n/0"]),
        ("n", ["n/1"]),
        ("o", 1),
        ("o", ["o/1"]),
    ]
    assert broken(s, decided(s, {"a": six})) == {"spread"}


def test_gpus_on_all_divide_over_all_machines_with_one_that_would_do() -> None:
    asked = run("a", 4, node_selection={"mode": "all"})
    machines = [machine("m", 8), machine("n", 2), machine("cpu"), machine("off", 8, state="down")]
    s = snapshot(machines, [asked])
    assert audit(s, decided(s, {"a": [("m", 2), ("n", 2)]})) == ()
    assert broken(s, decided(s, {"a": [("m", 4)]})) == {"machines"}


def test_a_shape_that_is_told_otherwise_than_it_is_is_refused() -> None:
    s = snapshot(MACHINES, [run("a", 2)])
    right = decided(s, {"a": [("m", 2)]})
    for tasks, each in ((2, 2), (1, 1)):
        why = f"1 machine x {each} GPU{'s' * (each > 1)}"
        told = ChosenShape(tasks=tasks, gpus_each=each, why=why)
        assert broken(s, altered(s, right, "a", shape=told)) == {"machines"}


def test_workers_that_bear_the_same_number_are_refused() -> None:
    s = snapshot(MACHINES, [run("a", machines=2)])
    right = decided(s, {"a": [("m", 0), ("n", 0)]})
    [placed] = right.outcomes
    assert isinstance(placed, PlacedRun)
    same = tuple(worker.model_copy(update={"index": 0}) for worker in placed.workers)
    assert broken(s, altered(s, right, "a", workers=same)) == {"machines"}


def test_a_run_on_all_is_on_every_machine_that_could_take_it() -> None:
    machines = [
        machine("big"),
        machine("small", cpu_cores=2),
        machine("closed", state="cordoned"),
        machine("stale", reported_at=after(-1000)),
        machine("other"),
    ]
    s = snapshot(machines, [run("a", cpu_cores=4, node_selection={"mode": "all"})])
    assert audit(s, decided(s, {"a": [("big", 0), ("other", 0)]})) == ()
    assert broken(s, decided(s, {"a": [("big", 0)]})) == {"machines"}
    assert broken(s, decided(s, {"a": [("big", 0), ("small", 0), ("other", 0)]})) == {
        "machines",
        "cpu",
    }


def test_a_run_on_all_waits_for_a_machine_that_is_merely_full() -> None:
    full = machine("full", memory_bytes=8 * GIB, used={"memory_bytes": 8 * GIB})
    agent = run("a", memory_bytes=GIB, node_selection={"mode": "all"})
    s = snapshot([machine("m"), full], [agent])
    assert audit(s, decided(s)) == ()
    assert broken(s, decided(s, {"a": [("m", 0)]})) == {"machines"}


def test_a_run_on_all_waits_for_a_machine_whose_cores_runs_hold() -> None:
    held = running("b", ("m", 0), cpu_cores=64)
    s = snapshot(
        [machine("m"), machine("n")], [held, run("a", cpu_cores=1, node_selection={"mode": "all"})]
    )
    assert broken(s, decided(s, {"a": [("n", 0)]})) == {"machines"}
    assert broken(s, decided(s, {"a": [("m", 0), ("n", 0)]})) == {"cpu"}


def test_a_run_on_all_of_the_named_is_on_each_of_them() -> None:
    s = snapshot(MACHINES, [run("a", node_selection={"mode": "all", "names": ["m", "o"]})])
    assert audit(s, decided(s, {"a": [("m", 0), ("o", 0)]})) == ()
    assert broken(s, decided(s, {"a": [("m", 0)]})) == {"machines"}


def test_an_array_s_shape_is_that_of_an_element() -> None:
    s = snapshot([machine("m", [card() for _ in range(4)])], [run("a", 2, array={"size": 2})])
    places = {"a": [("m", ["m/0", "m/1"]), ("m", ["m/2", "m/3"])]}
    right = decided(s, places)
    assert audit(s, right) == ()
    told = ChosenShape(tasks=1, gpus_each=4, why="2 elements x 4 GPUs on 1 machine")
    assert broken(s, altered(s, right, "a", shape=told)) == {"machines"}


def test_a_run_of_several_workers_is_on_machines_or_on_instances() -> None:
    asked = work("a", 0, machines=2)
    s = market([offering(available=2)], [asked], [rented("m"), rented("n")])
    values = {"a": by_rate("7.20")}
    hosts_and_rules: list[tuple[tuple[str, str], set[str]]] = [
        (("m", "n"), set()),
        (("a100#1", "a100#2"), set()),
        (("m", "a100#1"), {"machines"}),
    ]
    for hosts, rules in hosts_and_rules:
        places = {"a": [(host, 0) for host in hosts]}
        assert broken(s, priced(s, places, "7.20", values=values)) == rules


def test_a_run_on_all_is_on_all_machines_that_it_may_pay() -> None:
    asked = work("a", 0, node_selection={"mode": "all"}, placement={"max_rate_usd_per_hour": 8})
    s = market([offering()], [asked], [rented("m"), rented("n", rate="9"), rented("o")])
    values = {"a": by_rate("7.20")}
    assert broken(s, priced(s, {"a": [("m", 0), ("o", 0)]}, "7.20", values=values)) == set()
    values = {"a": by_rate("3.60")}
    assert broken(s, priced(s, {"a": [("m", 0)]}, "3.60", values=values)) == {"machines"}
