"""The laws that tie three witnesses: the solver's decision, the audit's rules, and brute force."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

from stowplan.model.audit import audit
from stowplan.model.decision import Decision, WaitingRun
from stowplan.model.snapshot import Snapshot
from stowplan.solver.cycle import solve
from tests.build import machine, run, snapshot
from tests.oracle import (
    at_risk_of,
    best,
    fewest_at_risk,
    lies,
    most_points,
    placed,
    points_of,
    weight,
)
from tests.strategies import examples, snapshots
from tests.variations import document_of, enlarged, loosened, renamed, shuffled

LONG = examples(int(os.environ.get("STOWPLAN_FUZZ_EXAMPLES", "20000")), is_long=True)
SCENARIOS = sorted((Path(__file__).parents[1] / "scenarios").glob("*.yaml"))
SOLVES = """
import sys
from stowplan.adapters.snapshot_file import load
from stowplan.solver.cycle import solve
for path in sys.argv[1:]:
    print(solve(load(path)).model_dump_json())
"""
SMALL = snapshots(max_machines=3, max_runs=3)


def decision_on(snapshot: Snapshot) -> Decision:
    """Return the decision; a test that fails shows the snapshot as it could be written."""
    note(snapshot.model_dump_json(by_alias=True, exclude_defaults=True))
    return solve(snapshot)


def agree(snapshot: Snapshot) -> None:
    decision = decision_on(snapshot)
    assert audit(snapshot, decision) == ()
    assert lies(snapshot, decision) == []
    assert weight(snapshot, decision) == best(snapshot)
    assert at_risk_of(snapshot, decision) == fewest_at_risk(snapshot, placed(decision))
    stages = {stage.name: stage for stage in decision.solver.stages}
    for name, value in {
        "place": sum(weight(snapshot, decision)),
        "at_risk": at_risk_of(snapshot, decision),
        "points": sum(points_of(snapshot, decision).values()),
    }.items():
        stage = stages[name]
        assert stage.objective == value, name
        if stage.status == "OPTIMAL":
            assert stage.bound == value, name
        else:  # many equal arrays can be too much to prove the last stages of, not what is placed
            assert (name, stage.bound >= value) == ("points", True)


def score_most(snapshot: Snapshot) -> None:
    decision = decision_on(snapshot)
    points = points_of(snapshot, decision)
    most = most_points(snapshot, placed(decision), at_risk_of(snapshot, decision))
    assert sum(points.values()) == most
    for outcome in decision.outcomes:
        if outcome.outcome == "placed":
            mean = points[outcome.run] / 1000 / len(outcome.workers)
            assert outcome.scores.points == pytest.approx(mean, abs=0.01)


@examples(500)
@given(snapshots())
def test_what_is_placed_is_lawful_best_and_told_truly(snapshot: Snapshot) -> None:
    agree(snapshot)


@pytest.mark.long
@LONG
@given(snapshots())
def test_all_witnesses_agree_on_many_snapshots(snapshot: Snapshot) -> None:
    agree(snapshot)


@examples(200)
@given(SMALL)
def test_no_way_to_place_the_same_runs_scores_more_points(snapshot: Snapshot) -> None:
    score_most(snapshot)


@pytest.mark.long
@LONG
@given(SMALL)
def test_no_way_scores_more_points_on_many_snapshots(snapshot: Snapshot) -> None:
    score_most(snapshot)


@pytest.mark.parametrize(("gpu_run", "cpu_run"), [("a", "b"), ("b", "a")])
def test_of_equal_choices_in_a_tier_the_one_that_leaves_most_to_the_next_is_made(
    gpu_run: str, cpu_run: str
) -> None:
    runs = [run(gpu_run, 1, cpu_cores=8, priority=1), run(cpu_run, cpu_cores=8, priority=1)]
    fleet = snapshot([machine("m", 1, cpu_cores=8)], [*runs, run("c", 1)])
    assert placed(solve(fleet)) == {cpu_run: 1, "c": 1}


@examples(100)
@given(snapshots())
def test_a_decision_survives_json_exactly(snapshot: Snapshot) -> None:
    decision = solve(snapshot)
    assert Decision.model_validate_json(decision.model_dump_json()) == decision


@examples(100)
@given(snapshots())
def test_solving_twice_decides_the_same(snapshot: Snapshot) -> None:
    assert untimed(solve(snapshot)) == untimed(solve(snapshot))


@examples(150)
@given(st.data())
def test_the_order_of_lists_changes_nothing(data: st.DataObject) -> None:
    snapshot = data.draw(snapshots())
    decision = decision_on(snapshot)
    other = decision_on(data.draw(shuffled(snapshot)))
    assert effortless(other) == effortless(decision)


def test_the_seed_of_pythons_hashes_changes_nothing() -> None:
    one, other = (decisions_with_hash_seed(seed) for seed in ("1", "2"))
    assert len(one) == len(SCENARIOS)
    assert [untimed(decision) for decision in one] == [untimed(decision) for decision in other]


@examples(150)
@given(st.data())
def test_other_names_change_nothing_but_ties(data: st.DataObject) -> None:
    snapshot = data.draw(snapshots())
    other, names = data.draw(renamed(snapshot))
    before, after = decision_on(snapshot), decision_on(other)
    assert weight(other, after) == weight(snapshot, before)
    if placed(after) == {names[run]: count for run, count in placed(before).items()}:
        assert at_risk_of(other, after) == at_risk_of(snapshot, before)
        points, others = points_of(snapshot, before), points_of(other, after)
        assert sum(others.values()) == sum(points.values())


@examples(150)
@given(st.data())
def test_one_machine_more_never_lowers_what_is_placed(data: st.DataObject) -> None:
    snapshot = data.draw(snapshots())
    assume(is_monotone(snapshot))
    larger = data.draw(enlarged(snapshot))
    assert placed_weight(larger) >= placed_weight(snapshot)


@examples(150)
@given(st.data())
def test_a_looser_rule_never_lowers_what_is_placed(data: st.DataObject) -> None:
    snapshot = data.draw(snapshots())
    assume(is_monotone(snapshot))
    looser = data.draw(loosened(snapshot))
    assert placed_weight(looser) >= placed_weight(snapshot)


@examples(150)
@given(st.data())
def test_a_run_that_waits_takes_nothing_from_the_others(data: st.DataObject) -> None:
    snapshot = data.draw(snapshots())
    assume(snapshot.policy.queue == "throughput")
    decision = decision_on(snapshot)
    waiting = [each.run for each in decision.outcomes if isinstance(each, WaitingRun)]
    assume(waiting)
    document, gone = document_of(snapshot), data.draw(st.sampled_from(waiting))
    document["runs"] = [run for run in document["runs"] if run["name"] != gone]
    without = Snapshot.read(document)
    # its tier, where no other run is in it, has placed nothing and is no more
    assert [w for w in placed_weight(without) if w] == [w for w in weight(snapshot, decision) if w]


def placed_weight(snapshot: Snapshot) -> tuple[int, ...]:
    return weight(snapshot, decision_on(snapshot))


def is_monotone(snapshot: Snapshot) -> bool:
    """Whether more room can't hurt: a strict queue may wait for it, and `all` must have it all."""
    modes = {run.node_selection.mode for run in snapshot.runs}
    return snapshot.policy.queue == "throughput" and "all" not in modes


def decisions_with_hash_seed(seed: str) -> list[Decision]:
    """Return the decisions on all scenarios, of a process whose hashes have this seed."""
    told = subprocess.run(
        [sys.executable, "-c", SOLVES, *map(str, SCENARIOS)],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
    ).stdout
    return [Decision.model_validate_json(line) for line in told.splitlines()]


def untimed(decision: Decision) -> dict[str, Any]:  # Any: whatever JSON can hold
    """Return the decision without wall times and logs."""
    content = decision.model_dump(mode="json")
    for stage in content["solver"]["stages"]:
        del stage["wall_s"]
    del content["solver"]["log"]
    return content


def effortless(decision: Decision) -> dict[str, Any]:  # Any: whatever JSON can hold
    """Return the decision without what tells only how much work the solver had."""
    content = untimed(decision)
    for stage in content["solver"]["stages"]:
        del stage["deterministic"]
    return content
