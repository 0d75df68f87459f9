"""Runs of several workers on a large fleet that machines have no room for are bought."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, note

import stowplan
from stowplan.model.audit import audit
from stowplan.model.decision import Decision, PlacedRun, Stage
from stowplan.model.snapshot import Snapshot
from stowplan.solver import stages
from stowplan.solver.money import bids
from tests.build import machine, offering, run, snapshot
from tests.solver.large.test_gangs import at_large
from tests.strategies import examples
from tests.test_bought_gangs import catalogs


def _stage(decision: Decision, name: str) -> Stage | None:
    return next((stage for stage in decision.solver.stages if stage.name == name), None)


def _placed(decision: Decision) -> dict[str, PlacedRun]:
    return {each.run: each for each in decision.outcomes if isinstance(each, PlacedRun)}


def of_few_sets(s: Snapshot) -> Decision:
    """Return what is decided where a run keeps its best set of instances only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bids, "MOST_HOSTS", 1)
        return stowplan.solve(s)


def without_sets(s: Snapshot) -> Decision:
    """Return what is decided where all sets together are too many to search."""
    whole = iter([False])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "_is_searched_whole", lambda grid: next(whole, True))
        return stowplan.solve(s)


@pytest.mark.parametrize("way", [at_large, of_few_sets, without_sets])
@examples(40)
@given(catalogs(machines=True, runs=2))
def test_what_is_bought_is_lawful_and_bounds_hold(
    way: Callable[[Snapshot], Decision], s: Snapshot
) -> None:
    note(s.model_dump_json(by_alias=True, exclude_defaults=True))
    exact, large = stowplan.solve(s), way(s)
    assert audit(s, large) == ()
    place, best = _stage(large, "place"), _stage(exact, "place")
    assert place and best and place.objective <= best.objective <= place.bound
    value, least = _stage(large, "value"), _stage(exact, "value")
    if value and least and _placed(large).keys() == _placed(exact).keys():
        assert value.bound <= least.objective


def test_nothing_is_bought_for_what_machines_have_room_for() -> None:
    machines = [machine("m", 8), machine("n", 8)]
    decision = at_large(
        snapshot(
            machines,
            [run("a", 16, machines=2), run("b", 16, machines=2)],
            offerings=[offering("o", "10", available=9)],
        )
    )
    hosts = {name: {w.host for w in each.workers} for name, each in _placed(decision).items()}
    assert hosts == {"a": {"m", "n"}, "b": {"o#1", "o#2"}}
    place = _stage(decision, "place")
    assert place and (place.objective, place.bound) == (32 * 8, 32 * 8)


def test_a_quota_and_a_budget_bind_what_is_bought() -> None:
    runs = [run(name, 16, machines=2, workspace=name, expected_duration_s=3600) for name in "uvw"]
    policy = {
        "workspaces": [{"name": "u", "gpu_quota": 15}],
        # Two instances for an hour at 10.00 each are 20 USD.
        "budgets": [{"name": "b", "workspaces": ["v"], "remaining_usd": "19.99"}],
    }
    s = snapshot([], runs, offerings=[offering("o", "10", available=9)], policy=policy)
    assert _placed(at_large(s)).keys() == _placed(stowplan.solve(s)).keys() == {"w"}


def test_in_a_strict_queue_nothing_is_bought_past_who_waits() -> None:
    runs = [
        run("a", 16, machines=2, submitted_at="2026-09-21T05:00:00Z"),
        run("b", 8, machines=1, submitted_at="2026-09-21T05:30:00Z"),
    ]
    offerings = [offering("o", "10", available=9)]
    s = snapshot([], runs, offerings=offerings, policy={"queue": "strict"})
    assert audit(s, at_large(s)) == ()
