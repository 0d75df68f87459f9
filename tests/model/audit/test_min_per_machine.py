from __future__ import annotations

from stowplan.model.audit import audit
from tests.build import broken, decided, machine, run, snapshot

MACHINES = [machine("m", 8), machine("n", 8), machine("o", 8), machine("p", 8)]


def test_a_worker_with_as_many_gpus_as_the_least_starts() -> None:
    s = snapshot(MACHINES, [run("a", {"count": 8, "min_per_machine": 4}, topology={})])
    assert audit(s, decided(s, {"a": [("m", 4), ("n", 4)]})) == ()
    assert audit(s, decided(s, {"a": [("m", 8)]})) == ()


def test_a_worker_with_fewer_is_refused() -> None:
    s = snapshot(MACHINES, [run("a", {"count": 8, "min_per_machine": 4}, topology={})])
    assert broken(s, decided(s, {"a": [(name, 2) for name in "mnop"]})) == {"min_per_machine"}
