from __future__ import annotations

from stowplan.model.audit import audit
from tests.build import broken, decided, machine, run, snapshot

MACHINES = [machine("m", 8), machine("n", 8), machine("o", 8), machine("p", 8)]


def test_a_run_on_as_many_machines_as_its_least_starts() -> None:
    s = snapshot(MACHINES, [run("a", 8, topology={"min_nodes": 2})])
    assert audit(s, decided(s, {"a": [("m", 4), ("n", 4)]})) == ()
    assert audit(s, decided(s, {"a": [(name, 2) for name in "mnop"]})) == ()


def test_a_run_on_fewer_machines_than_its_least_is_refused() -> None:
    s = snapshot(MACHINES, [run("a", 8, topology={"min_nodes": 2})])
    assert broken(s, decided(s, {"a": [("m", 8)]})) == {"min_nodes"}
