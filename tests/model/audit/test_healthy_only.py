from __future__ import annotations

from stowplan.model.audit import audit
from tests.build import broken, card, decided, machine, run, snapshot
from tests.model.audit.bought import market, offering, priced, work

MACHINES = [machine("m", [card(), card(health="unknown"), card(health="at_risk")])]


def test_a_gpu_of_unknown_health_shows_no_sign_of_failing() -> None:
    s = snapshot(MACHINES, [run("a", {"count": 2, "healthy_only": True})])
    assert audit(s, decided(s, {"a": [("m", ["m/0", "m/1"])]})) == ()


def test_a_gpu_at_risk_is_refused_where_healthy_ones_are_asked_for() -> None:
    s = snapshot(MACHINES, [run("a", {"count": 2, "healthy_only": True})])
    assert broken(s, decided(s, {"a": [("m", ["m/0", "m/2"])]})) == {"healthy_only"}


def test_a_run_that_does_not_ask_gets_one_at_risk() -> None:
    s = snapshot(MACHINES, [run("a", 2)])
    assert audit(s, decided(s, {"a": [("m", ["m/0", "m/2"])]})) == ()


def test_what_is_bought_shows_no_sign_of_failing() -> None:
    s = market([offering(health=0.1)], [work("a", {"count": 1, "healthy_only": True})])
    assert audit(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == ()
