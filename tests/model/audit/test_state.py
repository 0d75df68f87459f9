from __future__ import annotations

from stowplan.model.audit import audit
from tests.build import altered, broken, decided, machine, run, snapshot


def test_a_machine_that_is_up_takes_a_worker() -> None:
    s = snapshot([machine("m", 1)], [run("a", 1)])
    assert audit(s, decided(s, {"a": [("m", 1)]})) == ()


def test_a_machine_that_is_down_takes_nothing() -> None:
    s = snapshot([machine("m", 1, state="down")], [run("a", 1)])
    assert broken(s, decided(s, {"a": [("m", 1)]})) == {"state"}


def test_a_machine_without_any_capacity_takes_nothing() -> None:
    s = snapshot([machine("m", cpu_cores=0, memory_bytes=0)], [run("a")])
    assert broken(s, decided(s, {"a": [("m", 0)]})) == {"state"}


def test_a_machine_with_gpus_alone_has_capacity() -> None:
    s = snapshot([machine("m", 1, cpu_cores=0, memory_bytes=0)], [run("a", 1)])
    assert audit(s, decided(s, {"a": [("m", 1)]})) == ()


def test_a_host_that_the_fleet_lacks_takes_nothing() -> None:
    s = snapshot([machine("m", 1)], [run("a")])
    assert broken(s, decided(s, {"a": [("elsewhere", 0)]})) == {"state"}


def test_a_worker_said_to_be_on_an_offering_is_not_on_a_machine() -> None:
    s = snapshot([machine("m")], [run("a")])
    decision = decided(s, {"a": [("m", 0)]})
    [placed] = decision.outcomes
    bought = [worker.model_copy(update={"kind": "offering"}) for worker in placed.workers]  # type: ignore[union-attr]  # it is placed
    assert broken(s, altered(s, decision, "a", workers=tuple(bought))) == {"state"}


def test_the_violation_names_run_and_host() -> None:
    s = snapshot([machine("m", state="down")], [run("a")])
    [violation] = audit(s, decided(s, {"a": [("m", 0)]}))
    assert (violation.run, violation.host) == ("a", "m")
    assert str(violation) == "state: a on m: the machine is down"
