from __future__ import annotations

from typing import Any

from stowplan.model.audit import audit
from stowplan.model.snapshot import Snapshot
from tests.build import broken, decided, machine, snapshot
from tests.model.audit.bought import by_rate, market, offering, priced, rented, work

RUNS = [work("a", workspace="red"), work("b", workspace="blue"), work("c", workspace="green")]


def _sharing(usd: str, offerings: int = 3, **more: Any) -> Snapshot:
    budget = {"name": "q3", "workspaces": ["red", "blue"], "remaining_usd": usd}
    return market([offering(available=offerings)], RUNS, policy={"budgets": [budget]}, **more)


def test_what_workspaces_start_together_stays_within_what_they_share() -> None:
    # 3730 s each, at a tenth of a cent: 7.46 USD for the two of them; the third isn't theirs.
    s = _sharing("7.46")
    places = {"a": [("a100#1", 1)], "b": [("a100#2", 1)], "c": [("a100#3", 1)]}
    values = dict.fromkeys("abc", by_rate("3.60"))
    assert audit(s, priced(s, places, "10.80", values=values)) == ()


def test_runs_that_stay_within_it_alone_and_not_together_are_refused() -> None:
    s = _sharing("7.459999")
    places = {"a": [("a100#1", 1)], "b": [("a100#2", 1)]}
    values = dict.fromkeys("ab", by_rate("3.60"))
    assert audit(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == ()
    assert broken(s, priced(s, places, "7.20", values=values)) == {"budget"}


def test_a_run_that_costs_more_than_is_left_is_refused() -> None:
    s = _sharing("3.729999")
    violations = audit(s, priced(s, {"a": [("a100#1", 1)]}, "3.60"))
    assert {violation.rule for violation in violations} == {"budget"}
    assert "a" in {violation.run for violation in violations}
    assert audit(s, priced(s, {"c": [("a100#1", 1)]}, "3.60")) == ()


def test_each_budget_of_a_workspace_counts() -> None:
    budgets = [
        {"name": "wide", "workspaces": ["red"], "remaining_usd": 100},
        {"name": "tight", "workspaces": ["red"], "remaining_usd": 3},
    ]
    s = market([offering()], RUNS, policy={"budgets": budgets})
    assert broken(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == {"budget"}


def test_each_run_on_a_shared_machine_is_counted_as_if_alone() -> None:
    # Two hours of a rented machine, though one would be paid: 3.60 USD each.
    budget = {"name": "q3", "workspaces": ["red", "blue"], "remaining_usd": "7.199999"}
    s = market([], RUNS, [rented()], policy={"budgets": [budget]})
    places = {"a": [("m", ["m/0"])], "b": [("m", ["m/1"])]}
    assert audit(s, priced(s, {"a": [("m", 1)]}, "3.60")) == ()
    assert broken(s, priced(s, places, "3.60")) == {"budget"}


def test_machines_of_your_own_cost_nothing() -> None:
    budget = {"name": "q3", "workspaces": ["red"], "remaining_usd": 0}
    s = snapshot([machine("m", 1)], RUNS, policy={"budgets": [budget]})
    assert audit(s, decided(s, {"a": [("m", 1)]})) == ()
