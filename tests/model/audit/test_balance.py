from __future__ import annotations

from stowplan.model.audit import audit
from stowplan.model.snapshot import Snapshot
from tests.build import broken
from tests.model.audit.bought import by_rate, market, offering, priced, work

VALUES = dict.fromkeys("abc", by_rate("3.60"))


def _with(usd: str) -> Snapshot:
    policy = {"workspaces": [{"name": "red", "balance_usd": usd}]}
    runs = [work("a", workspace="red"), work("b", workspace="red"), work("c", workspace="blue")]
    return market([offering(available=3)], runs, policy=policy)


def test_what_a_workspace_starts_stays_within_what_it_has() -> None:
    # 3730 s each, at a tenth of a cent; the other workspace has no limit.
    s = _with("7.46")
    places = {"a": [("a100#1", 1)], "b": [("a100#2", 1)], "c": [("a100#3", 1)]}
    assert audit(s, priced(s, places, "10.80", values=VALUES)) == ()


def test_runs_that_overspend_it_together_are_refused() -> None:
    s = _with("7.459999")
    places = {"a": [("a100#1", 1)], "b": [("a100#2", 1)]}
    decision = priced(s, places, "7.20", values=VALUES)
    (violation,) = audit(s, decision)
    assert (violation.rule, violation.run) == ("balance", None)
    assert violation.message == "what starts costs 7.46 USD, and workspace red has 7.459999 left"


def test_a_run_that_overspends_it_alone_is_refused() -> None:
    s = _with("3.729999")
    decision = priced(s, {"a": [("a100#1", 1)]}, "3.60")
    assert broken(s, decision) == {"balance"}
    assert "a" in {violation.run for violation in audit(s, decision)}
