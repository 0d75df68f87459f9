"""The large fleet's way where hosts cost something, held against the exact way."""

from __future__ import annotations

import pytest
from hypothesis import given

import stowplan
from stowplan.model.audit import audit
from stowplan.model.decision import Decision
from stowplan.model.snapshot import Snapshot
from stowplan.solver import stages
from tests.build import machine, market, offering, run, wants
from tests.money_strategies import money_snapshots
from tests.strategies import examples


def at_large(snapshot: Snapshot) -> Decision:
    """Return what the large fleet's way decides."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "SEARCHED_WHOLE", -1)
        patch.setattr(stages, "OFFERS_SEARCHED_WHOLE", -1)
        return stowplan.solve(snapshot)


def stage(decision: Decision, name: str) -> tuple[float, float]:
    return next((s.objective, s.bound) for s in decision.solver.stages if s.name == name)


def placed(decision: Decision) -> set[str]:
    return {outcome.run for outcome in decision.outcomes if outcome.outcome == "placed"}


@examples(100)
@given(money_snapshots())
def test_its_decisions_are_lawful_and_its_bounds_hold(snapshot: Snapshot) -> None:
    exact, large = stowplan.solve(snapshot), at_large(snapshot)
    assert audit(snapshot, large) == ()
    assert stage(large, "place")[1] >= stage(exact, "place")[0]
    is_priced = any(each.name == "value" for each in exact.solver.stages)
    arrays = any(outcome.array for outcome in exact.outcomes if outcome.outcome == "placed")
    if is_priced and placed(exact) == placed(large) and not arrays:
        assert stage(large, "value")[1] <= stage(exact, "value")[0]


def test_the_long_run_has_the_machine_and_the_short_one_is_bought() -> None:
    # Ten hours at 2.00 would be 20 USD, one hour 2.00.
    runs = [run("long", 1, expected_duration_s=36_000), wants("short")]
    s = market(offering("a", "2.00", available=5), runs=runs, machines=[machine("m", 1)])
    for decision in (stowplan.solve(s), at_large(s)):
        hosts = {o.run: o.workers[0].host for o in decision.outcomes if o.outcome == "placed"}
        assert hosts == {"long": "m", "short": "a#1"}


def test_what_is_placed_within_the_bands_is_chosen_by_what_comes_last_here_too() -> None:
    # Of two at one rate the healthier.
    s = market(offering("a", health=0.5), offering("b", health=0.9), runs=[wants("r")])
    decision = at_large(s)
    assert [o.workers[0].host for o in decision.outcomes if o.outcome == "placed"] == ["b#1"]
