from __future__ import annotations

from stowplan.model.audit import audit
from tests.build import after, broken, decided, machine, run, snapshot


def test_a_report_just_as_old_as_allowed_is_fresh() -> None:
    s = snapshot([machine("m", reported_at=after(-120))], [run("a")])
    assert audit(s, decided(s, {"a": [("m", 0)]})) == ()


def test_a_machine_with_an_older_report_takes_nothing() -> None:
    s = snapshot([machine("m", reported_at=after(-121))], [run("a")])
    assert broken(s, decided(s, {"a": [("m", 0)]})) == {"freshness"}


def test_the_age_allowed_is_the_policy_s() -> None:
    s = snapshot([machine("m", reported_at=after(-11))], [run("a")], policy={"stale_after_s": 10})
    assert broken(s, decided(s, {"a": [("m", 0)]})) == {"freshness"}


def test_a_report_without_a_time_is_fresh() -> None:
    s = snapshot([machine("m")], [run("a")], policy={"stale_after_s": 0})
    assert audit(s, decided(s, {"a": [("m", 0)]})) == ()
