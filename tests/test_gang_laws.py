"""The laws of runs of several workers: the solver, the audit and the oracle of gangs agree."""

from __future__ import annotations

import os

import pytest
from hypothesis import given

from stowplan.model.audit import audit
from stowplan.model.decision import Decision, WaitingRun
from stowplan.model.snapshot import Snapshot
from tests.gang_oracle import best, best_of, figures, fits_beside
from tests.gang_strategies import gang_snapshots
from tests.strategies import examples
from tests.test_laws import decision_on
from tests.witness.gang_claims import gang_lies

LONG = examples(int(os.environ.get("STOWPLAN_FUZZ_EXAMPLES", "2000")), is_long=True)
HELD_BY_QUEUE = {"QUEUED_BEHIND", "NEXT_TO_RUN"}


def agree(snapshot: Snapshot) -> None:
    decision = decision_on(snapshot)
    assert audit(snapshot, decision) == ()
    assert gang_lies(snapshot, decision) == []
    found = figures(snapshot, decision)
    assert found[:2] == best(snapshot)[:2]  # then what starts is settled, and only where is open
    assert found == best_of(snapshot, placed(decision))
    for outcome in decision.outcomes:
        if isinstance(outcome, WaitingRun) and outcome.reason.code not in HELD_BY_QUEUE:
            assert not fits_beside(snapshot, decision, outcome.run)


def placed(decision: Decision) -> set[str]:
    """Return the runs that a decision places."""
    return {outcome.run for outcome in decision.outcomes if outcome.outcome == "placed"}


def are_told(snapshot: Snapshot) -> None:
    """Every stage tells the figure that the decision comes to, and proves it."""
    decision = decision_on(snapshot)
    true, runs = figures(snapshot, decision), len(placed(decision))
    wanted = {
        "place": sum(true.weight),
        "at_risk": true.at_risk,
        "rung": true.rungs - runs,  # a run on one machine counts 0
        "machines": true.workers - runs,
        "room": true.room,
        "points": true.points,
    }
    stages = {stage.name: stage for stage in decision.solver.stages}
    for name, value in wanted.items():
        if name in stages:
            assert (name, stages[name].objective) == (name, value)
            assert (name, stages[name].bound) == (name, value)


@examples(150)
@given(gang_snapshots())
def test_what_is_placed_is_lawful_best_and_told_truly(snapshot: Snapshot) -> None:
    agree(snapshot)


@pytest.mark.long
@LONG
@given(gang_snapshots())
def test_all_witnesses_agree_on_many_snapshots(snapshot: Snapshot) -> None:
    agree(snapshot)


@examples(75)
@given(gang_snapshots())
def test_stages_tell_what_they_come_to(snapshot: Snapshot) -> None:
    are_told(snapshot)


@pytest.mark.long
@LONG
@given(gang_snapshots())
def test_stages_tell_what_they_come_to_on_many_snapshots(snapshot: Snapshot) -> None:
    are_told(snapshot)
