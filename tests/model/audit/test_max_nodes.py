from __future__ import annotations

from stowplan.model.audit import audit
from tests.build import broken, decided, machine, run, snapshot

MACHINES = [machine("m", 8), machine("n", 8), machine("o", 8), machine("p", 8)]


def test_a_run_on_no_more_machines_than_its_most_starts() -> None:
    s = snapshot(MACHINES, [run("a", 8, topology={"max_nodes": 2})])
    assert audit(s, decided(s, {"a": [("m", 8)]})) == ()
    assert audit(s, decided(s, {"a": [("m", 4), ("n", 4)]})) == ()


def test_a_run_on_more_machines_than_its_most_is_refused() -> None:
    s = snapshot(MACHINES, [run("a", 8, topology={"max_nodes": 2})])
    assert broken(s, decided(s, {"a": [(name, 2) for name in "mnop"]})) == {"max_nodes"}


def test_elements_are_not_counted() -> None:
    s = snapshot(MACHINES, [run("a", 1, array={"size": 3}, topology={"max_nodes": 1})])
    assert audit(s, decided(s, {"a": [("m", 1), ("n", 1), ("o", 1)]})) == ()


def test_workers_bound_in_number_never_share_a_machine() -> None:
    asked = run("a", 2, node_selection={"mode": "any"}, topology={"max_nodes": 2})
    s = snapshot(MACHINES, [asked])
    assert broken(s, decided(s, {"a": [("m", ["m/0"]), ("m", ["m/1"])]})) == {"spread"}
