from __future__ import annotations

from stowplan.model.audit import audit
from tests.build import broken, decided, machine, run, running, snapshot


def test_a_machine_under_pressure_takes_nothing_new() -> None:
    s = snapshot([machine("m", state="pressure"), machine("n")], [run("a")])
    assert audit(s, decided(s, {"a": [("n", 0)]})) == ()
    assert broken(s, decided(s, {"a": [("m", 0)]})) == {"pressure"}


def test_what_runs_on_a_machine_under_pressure_stays() -> None:
    s = snapshot([machine("m", 1, state="pressure")], [running("a", ("m", 1))])
    assert audit(s, decided(s)) == ()
