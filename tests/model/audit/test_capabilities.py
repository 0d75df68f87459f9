from __future__ import annotations

from stowplan.model.audit import audit
from tests.build import broken, decided, machine, run, snapshot
from tests.model.audit.bought import market, offering, priced, work

MACHINES = [
    machine("sandboxed", capabilities=["sandbox"]),
    machine("native", only=["native-engine", "fast-path"], capabilities=["sandbox"]),
    machine("plain"),
]


def test_a_machine_has_what_the_run_needs() -> None:
    s = snapshot(MACHINES, [run("a", needs=["sandbox"])])
    assert audit(s, decided(s, {"a": [("sandboxed", 0)]})) == ()


def test_a_machine_that_lacks_a_need_is_refused() -> None:
    s = snapshot(MACHINES, [run("a", needs=["sandbox", "mesh"])])
    assert broken(s, decided(s, {"a": [("plain", 0)]})) == {"capabilities"}
    assert broken(s, decided(s, {"a": [("sandboxed", 0)]})) == {"capabilities"}


def test_an_only_machine_takes_a_run_that_needs_one_of_these() -> None:
    s = snapshot(MACHINES, [run("a", needs=["native-engine", "sandbox"])])
    assert audit(s, decided(s, {"a": [("native", 0)]})) == ()


def test_an_only_machine_takes_no_other_run() -> None:
    s = snapshot(MACHINES, [run("a"), run("b", needs=["sandbox"])])
    assert broken(s, decided(s, {"a": [("native", 0)]})) == {"capabilities"}
    assert broken(s, decided(s, {"b": [("native", 0)]})) == {"capabilities"}


def test_an_offering_states_no_capabilities() -> None:
    s = market([offering()], [work("a", needs=["sandbox"])])
    assert broken(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == {"capabilities"}
