from __future__ import annotations

import pytest

from stowplan.model.audit import audit
from tests.build import broken, decided, machine, run, snapshot
from tests.model.audit.standing import stands

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


@pytest.mark.parametrize(
    ("kind", "lawful", "unlawful"),
    [("node", "ab", "aa"), ("rack", "ac", "ab"), ("fabric", "ab", "ac")],
)
def test_a_run_has_at_most_one_worker_in_each_of_what_it_is_spread_over(
    kind: str, lawful: str, unlawful: str
) -> None:
    places = {"a": ("r1", "f"), "b": ("r1", "g"), "c": ("r2", "f")}
    machines = [stands(name, rack=rack, fabric=own) for name, (rack, own) in places.items()]
    s = snapshot([*machines, machine("bare", 8)], [run("x", machines=2, topology={"spread": kind})])
    assert audit(s, decided(s, {"x": [(name, 0) for name in lawful]})) == ()
    assert broken(s, decided(s, {"x": [(name, 0) for name in unlawful]})) == {"spread"}
    rules = set() if kind == "node" else {"spread"}
    assert broken(s, decided(s, {"x": [("a", 0), ("bare", 0)]})) == rules


def test_one_worker_is_spread_wherever_it_is() -> None:
    s = snapshot(MACHINES, [run("x", 2, topology={"spread": "rack"})])
    assert audit(s, decided(s, {"x": [("m", 2)]})) == ()


def test_workers_spread_by_any_kind_never_share_a_machine() -> None:
    for kind in ("node", "rack", "fabric"):
        asked = run("x", 2, topology={"spread": kind}, node_selection={"mode": "any"})
        s = snapshot([stands("a", rack="r", fabric="f")], [asked])
        assert broken(s, decided(s, {"x": [("a", ["a/0"]), ("a", ["a/1"])]})) == {"spread"}
