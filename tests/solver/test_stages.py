from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from stowplan.model.audit import audit
from stowplan.model.reasons import Code
from stowplan.model.snapshot import Snapshot
from stowplan.solver import stages, whole
from stowplan.solver.cycle import solve
from stowplan.solver.greedy import greedy
from stowplan.solver.program.search import Found, search
from stowplan.solver.settings import Settings
from stowplan.solver.values import values_of
from tests.build import Document, after, card, machine, run, snapshot
from tests.solver.cycles import (
    broken_rows,
    choices_of,
    choices_over,
    gpus_of,
    headline,
    places,
    solved,
    started_in,
    starts,
)
from tests.strategies import examples, snapshots

RISKY = card(health="at_risk")
TIGHT = [run(f"r{index}", gpus) for index, gpus in enumerate((2, 4, 4, 5, 2, 3))]
"""Runs that fill two machines of ten GPUs in one way only: 5 + 3 + 2 and 4 + 4 + 2."""


# Place.


def test_one_run_of_a_higher_tier_beats_any_number_of_lower_ones() -> None:
    # Each of the nine has waited so long that it weighs nine times a new run.
    old = [run(f"old{n}", 1, submitted_at=after(-(10**7)), cpu_cores=1) for n in range(9)]
    high = run("high", 1, priority=1, cpu_cores=9)
    assert starts(snapshot([machine("m", 9, cpu_cores=9)], [*old, high])) == {"high"}


def test_a_middle_tier_comes_before_all_lower_ones_and_after_the_higher() -> None:
    a, b, c = run("a", 2, priority=9), run("b", 2, priority=5), run("c", 4)
    assert starts(snapshot([machine("m", 4)], [c, b, a])) == {"a", "b"}
    assert starts(snapshot([machine("m", 3)], [c, b, a, run("d", 1)])) == {"a", "d"}


def test_within_a_tier_the_most_weight_is_placed() -> None:
    # 3 + 3 leave 2 of 8 GPUs idle; 5 + 3 none. Weights are 8 a GPU.
    runs = [run("a", 3), run("b", 3), run("c", 5)]
    s = snapshot([machine("m", 8)], runs)
    assert "c" in starts(s)
    assert len(starts(s)) == 2


def test_what_no_order_of_filling_finds_is_found() -> None:
    s = snapshot([machine("m", 10), machine("n", 10)], TIGHT)
    assert sum(started_in(greedy(choices_of(s), lambda layout: False)).values()) == 5
    assert len(starts(s)) == 6


def test_tiers_are_one_entry_in_the_account() -> None:
    runs = [run("a", 1, priority=1), run("b", 2)]
    decision = solve(snapshot([machine("m", 2)], runs))
    assert [stage.name for stage in decision.solver.stages] == [
        "place",
        "at_risk",
        "points",
        "holes",
        "canonical",
    ]
    [place, *_] = decision.solver.stages
    assert (place.objective, place.bound, place.gap, place.status) == (8, 8, 0, "OPTIMAL")


# GPUs at risk.


def test_a_healthy_gpu_is_taken_though_the_one_at_risk_earns_more_points() -> None:
    # On m the drive is worth 40 points and the last GPU 50; on n the GPUs are one of eight.
    machines = [machine("m", [RISKY]), machine("n", 8, network="s")]
    drives = [{"name": "data", "machine": "m", "sites": ["s"]}]
    assert places(snapshot(machines, [run("a", 1, drives=["data"])], drives=drives)) == {"a": ["n"]}


def test_gpus_at_risk_are_used_where_nothing_else_would_place_all() -> None:
    cards = [card(), RISKY, card()]
    one, two = run("a", 1), run("b", 2)
    assert gpus_of(snapshot([machine("m", cards)], [two]), "b") == [("m/0", "m/2")]
    s = snapshot([machine("m", cards)], [one, two])
    assert starts(s) == {"a", "b"}
    assert solve(s).solver.stages[1].objective == 1


def test_a_run_takes_a_gpu_at_risk_for_the_sake_of_another() -> None:
    # b must go to m, where healthy GPUs are; so a, which fits there too, takes the one at risk.
    machines = [machine("m", 2), machine("n", [RISKY, RISKY])]
    b = run("b", {"count": 2, "healthy_only": True})
    assert places(snapshot(machines, [run("a", 2), b])) == {"a": ["n"], "b": ["m"]}
    assert places(snapshot(machines, [run("a", 2)])) == {"a": ["m"]}


def test_runs_are_moved_apart_to_spare_gpus_at_risk() -> None:
    # Together on m they would need the GPU at risk; n has room for either.
    machines = [machine("m", [card(), card(), RISKY]), machine("n", 8, cpu_pressure=True)]
    s = snapshot(machines, [run("a", 2), run("b", 1)])
    assert starts(s) == {"a", "b"}
    assert solve(s).solver.stages[1].objective == 0


def test_more_is_placed_before_gpus_at_risk_are_spared() -> None:
    s = snapshot([machine("m", [RISKY] * 4)], [run("a", 2), run("b", 2)])
    assert starts(s) == {"a", "b"}


# Limits.


def cut_short(*given: Any, **named: Any) -> Found:  # Any: whatever a search is given
    """Search, and come back with the hint as if the time had been up at once."""
    _, goal, hint, limits = given
    found, objective, bound = search(*given, **named), goal.terms.at(hint), named["trivial"]
    proven = abs(bound - objective) <= limits.gap * abs(objective)
    return replace(
        found,
        values=list(hint),
        status="OPTIMAL" if proven else "FEASIBLE",
        objective=objective,
        bound=bound,
        cut=None if proven else "deterministic_time",
    )


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "search_in_steps", cut_short)


@pytest.mark.usefixtures("no_time")
def test_a_run_that_waits_without_a_proof_is_not_called_impossible() -> None:
    s = snapshot([machine("m", 10), machine("n", 10)], TIGHT)
    decision = solve(s)
    (left,) = {each["name"] for each in TIGHT} - starts(decision)
    head = headline(decision, left)
    assert head.code == Code.SOLVER_LIMIT
    assert head.message.startswith("fits alone; the room went to ")
    assert head.message.endswith("; not proven in the time given that it must wait")
    assert decision.solver.limit_hit == "deterministic_time"
    [place, *_] = decision.solver.stages
    assert (place.status, decision.solver.status) == ("FEASIBLE", "FEASIBLE")
    assert place.objective < place.bound
    assert place.gap == pytest.approx((place.bound - place.objective) / place.bound, abs=1e-6)


@pytest.mark.usefixtures("no_time")
def test_what_needs_no_search_needs_no_time() -> None:
    decision = solve(snapshot([machine("m", 2)], [run("a", 1), run("b", 3)]))
    assert decision.solver.stages[0].status == "OPTIMAL"
    assert headline(decision, "b").code != Code.SOLVER_LIMIT


@pytest.mark.usefixtures("no_time")
def test_within_the_gap_asked_a_run_that_waits_is_proven_to() -> None:
    s = snapshot([machine("m", 10), machine("n", 10)], TIGHT)
    decision = solve(s, Settings(gap=0.5))
    (left,) = {each["name"] for each in TIGHT} - starts(decision)
    assert decision.solver.stages[0].status == "OPTIMAL"
    assert headline(decision, left).code == Code.OUTCOMPETED


def test_no_time_at_all_still_gives_an_audited_answer() -> None:
    s = snapshot([machine("m", 10), machine("n", 10)], TIGHT)
    decision = solve(s, Settings(time_limit_s=0))
    assert audit(s, decision) == ()
    assert len(starts(decision)) >= 5


# Large models.


@examples(25)
@given(snapshots())
def test_a_large_model_searched_in_parts_keeps_every_row_and_its_bounds_hold(
    snapshot: Snapshot,
) -> None:
    settings = Settings(time_limit_s=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "SEARCHED_WHOLE", -1)
        layout, chain = solved(snapshot, settings)
        assert audit(snapshot, solve(snapshot, settings)) == ()
    choices = choices_over(layout.grid, snapshot)
    assert broken_rows(choices, values_of(choices, layout)) == []
    assert chain.stages[-1].status == "GREEDY"
    if len({each.ask.priority for each in choices_of(snapshot).classes}) == 1:
        best = solved(snapshot, Settings(gap=0)).chain.stages[0].objective
        assert chain.stages[0].bound >= best >= chain.stages[0].objective


# Ties.


@pytest.mark.parametrize("order", [1, -1])
def test_ties_fall_the_same_way_whatever_the_order_of_the_lists(order: int) -> None:
    machines: list[Document] = [machine(name, 2) for name in "mnop"]
    runs: list[Document] = [run(name, 1) for name in "abc"]
    told = snapshot(machines[::order], runs[::order])
    assert places(told) == places(snapshot(machines, runs))
