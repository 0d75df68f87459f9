from __future__ import annotations

from stowplan.model.audit import audit
from tests.build import broken, decided, machine, run, snapshot

MACHINES = [machine("m", 4, constraints={"max_accelerators": 2})]


def test_a_worker_takes_as_many_gpus_as_one_may() -> None:
    s = snapshot(MACHINES, [run("a", 2), run("b", 2)])
    places = {"a": [("m", ["m/0", "m/1"])], "b": [("m", ["m/2", "m/3"])]}
    assert audit(s, decided(s, places)) == ()


def test_a_worker_with_one_more_is_refused() -> None:
    s = snapshot(MACHINES, [run("a", 3)])
    assert broken(s, decided(s, {"a": [("m", 3)]})) == {"max_accelerators"}


def test_a_limit_of_none_at_all_still_takes_runs_without_gpus() -> None:
    s = snapshot([machine("m", 4, constraints={"max_accelerators": 0})], [run("a"), run("b", 1)])
    assert audit(s, decided(s, {"a": [("m", 0)]})) == ()
    assert broken(s, decided(s, {"b": [("m", 1)]})) == {"max_accelerators"}
