from __future__ import annotations

from stowplan.model.audit import audit
from tests.build import broken, decided, machine, run, snapshot

MACHINES = [machine("m", 2), machine("n", 2)]


def test_workers_on_different_machines_are_spread() -> None:
    s = snapshot(MACHINES, [run("a", machines=2)])
    assert audit(s, decided(s, {"a": [("m", 0), ("n", 0)]})) == ()


def test_two_workers_of_a_run_moved_onto_one_machine_are_refused() -> None:
    s = snapshot(MACHINES, [run("a", machines=2)])
    assert broken(s, decided(s, {"a": [("m", 0), ("m", 0)]})) == {"spread"}


def test_a_count_of_workers_is_spread_unless_the_mode_is_any() -> None:
    exact = snapshot(MACHINES, [run("a", node_selection={"count": 2})])
    assert broken(exact, decided(exact, {"a": [("m", 0), ("m", 0)]})) == {"spread"}
    shared = snapshot(MACHINES, [run("a", node_selection={"count": 2, "mode": "any"})])
    assert audit(shared, decided(shared, {"a": [("m", 0), ("m", 0)]})) == ()


def test_machines_are_different_ones_in_any_mode() -> None:
    s = snapshot(MACHINES, [run("a", machines=2, node_selection={"mode": "any"})])
    assert broken(s, decided(s, {"a": [("m", 0), ("m", 0)]})) == {"spread"}


def test_elements_of_an_array_may_share_a_machine() -> None:
    s = snapshot(MACHINES, [run("a", 1, array={"size": 2})])
    assert audit(s, decided(s, {"a": [("m", ["m/0"]), ("m", ["m/1"])]})) == ()


def test_two_runs_may_share_a_machine() -> None:
    s = snapshot(MACHINES, [run("a"), run("b")])
    assert audit(s, decided(s, {"a": [("m", 0)], "b": [("m", 0)]})) == ()
