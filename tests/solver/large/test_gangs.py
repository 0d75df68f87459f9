"""Runs of several workers on a large fleet: the large way, held against exhaustive search."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, note

from stowplan.model.audit import audit
from stowplan.model.decision import Decision, PlacedRun, WaitingRun
from stowplan.model.snapshot import Snapshot
from stowplan.solver import stages
from stowplan.solver.cycle import solve
from tests.build import machine, run, running, snapshot
from tests.gang_oracle import best, figures, fits_beside
from tests.gang_strategies import gang_snapshots
from tests.strategies import examples
from tests.witness.gang_claims import gang_lies

LONG = examples(int(os.environ.get("STOWPLAN_FUZZ_EXAMPLES", "2000")), is_long=True)


def at_large(s: Snapshot) -> Decision:
    """Return what the large fleet's way decides."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "SEARCHED_WHOLE", -1)
        patch.setattr(stages, "OPTIONS_SEARCHED_WHOLE", -1)
        return solve(s)


def _placed(decision: Decision) -> list[PlacedRun]:
    return [each for each in decision.outcomes if isinstance(each, PlacedRun)]


def _is_true(s: Snapshot) -> None:
    note(s.model_dump_json(by_alias=True, exclude_defaults=True))
    decision = at_large(s)
    assert audit(s, decision) == ()
    assert gang_lies(s, decision) == []
    found, most = figures(s, decision), best(s)
    assert found.weight <= most.weight
    told = {stage.name: stage for stage in decision.solver.stages}
    runs = len(_placed(decision))
    true = {
        "place": sum(found.weight),
        "at_risk": found.at_risk,
        "rung": found.rungs - runs,
        "machines": found.workers - runs,
        "room": found.room,
        "points": found.points,
    }
    for name in true.keys() & told.keys():
        assert (name, told[name].objective) == (name, true[name])
    if len(most.weight) == 1:
        assert sum(most.weight) <= told["place"].bound
    if told["place"].status == "OPTIMAL" and s.solver.gap == 0:
        assert found.weight == most.weight
    if found.weight == most.weight:
        assert told["at_risk"].bound <= found.at_risk
    if s.policy.queue != "strict":
        for outcome in decision.outcomes:
            if isinstance(outcome, WaitingRun):
                assert not fits_beside(s, decision, outcome.run)


@examples(80)
@given(gang_snapshots())
def test_what_it_says_is_true_and_its_bounds_hold(s: Snapshot) -> None:
    _is_true(s)


@pytest.mark.long
@LONG
@given(gang_snapshots())
def test_what_it_says_is_true_on_many_snapshots(s: Snapshot) -> None:
    _is_true(s)


@examples(60)
@given(gang_snapshots())
def test_a_search_that_is_led_comes_to_the_best_and_proves_it(s: Snapshot) -> None:
    note(s.model_dump_json(by_alias=True, exclude_defaults=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "LED", -1)
        decision = solve(s)
    assert audit(s, decision) == ()
    assert figures(s, decision)[:2] == best(s)[:2]
    assert decision.solver.stages[0].status == "OPTIMAL"


def test_what_no_shape_can_better_is_proven_at_once() -> None:
    # 1,600 GPUs, and 720 + 840 = 1,560 is the largest sum of 720, 840 and 48 within them.
    machines = [machine(f"m{number}", 8) for number in range(200)]
    runs = [run(name, gpus, topology={}) for name, gpus in (("a", 720), ("b", 840), ("c", 48))]
    decision = solve(snapshot(machines, runs))
    place = decision.solver.stages[0]
    assert (place.objective, place.bound, place.status) == (8 * 1560, 8 * 1560, "OPTIMAL")
    assert place.deterministic < 1


def test_the_tightest_group_is_found_by_an_earlier_turn() -> None:
    # In line, a takes the rack that b alone needs: b is kept within a rack, a is not.
    machines = [
        machine(f"m{number}", 8, labels={"topology/rack": f"r{number // 2}"}) for number in range(3)
    ]
    a = run("a", 8, machines=2, submitted_at="2026-09-21T05:00:00Z")
    b = run("b", 16, machines=2, topology={"keep_within": "rack"})
    full = running("old", ("m2", 4))
    decision = at_large(snapshot(machines, [full, a, b]))
    assert {each.run for each in _placed(decision)} in ({"b"}, {"a", "b"}, {"a"})
    assert sum(figures(snapshot(machines, [full, a, b]), decision).weight) >= 16 * 8


def test_the_largest_set_starts_though_the_first_in_line_would_not_leave_it_room() -> None:
    # m and n have eight GPUs free each. In line, a would take four of each and leave b nowhere.
    machines = [machine("m", 8), machine("n", 8)]
    a = run("a", 8, topology={}, submitted_at="2026-09-21T05:59:00Z", machines=None)
    b = run("b", 8, machines=1)
    decision = at_large(snapshot(machines, [a, b]))
    assert {each.run for each in _placed(decision)} == {"a", "b"}
    assert all(each.rung == 1 for each in _placed(decision))


def test_a_strict_queue_is_kept() -> None:
    machines = [machine("m", 8), machine("n", 8)]
    first = run("a", 32, machines=4, submitted_at="2026-09-21T05:00:00Z")
    fits = run("b", 16, machines=2)
    decision = at_large(snapshot(machines, [first, fits], policy={"queue": "strict"}))
    # The first could never start on this fleet: it holds nobody up.
    assert {each.run for each in _placed(decision)} == {"b"}
    more = [machine(f"x{number}", 8) for number in range(2)]
    busy = running("old", ("x0", 8))
    held = at_large(snapshot(machines + more, [busy, first, fits], policy={"queue": "strict"}))
    assert _placed(held) == []
