from __future__ import annotations

import pytest
from hypothesis import given

from stowplan.model.decision import Stage
from stowplan.model.snapshot import Snapshot
from stowplan.solver import points
from stowplan.solver.chain import Chain, Progress
from stowplan.solver.handout import at_risk_taken
from stowplan.solver.interrupt import Interrupt
from stowplan.solver.large.cellwise import Cellwise
from stowplan.solver.layout import Layout
from stowplan.solver.settings import Settings
from stowplan.solver.values import values_of
from tests.build import card, machine, run, snapshot
from tests.oracle import best, fewest_at_risk
from tests.solver.cycles import (
    broken_rows,
    choices_of,
    grid_of,
    limits_of,
    started_in,
    that_start,
    workers_in,
)
from tests.solver.test_levels import of_sizes
from tests.strategies import examples, snapshots

RISKY = card(health="at_risk")


def _solved(s: Snapshot, chain: Chain | None = None) -> tuple[Layout, dict[str, Stage]]:
    chain = chain or Chain(Settings(gap=0, time_limit_s=5), Interrupt())
    grid = grid_of(s)
    layout = Cellwise(grid, limits_of(s, grid), chain).solved()
    return layout, {stage.name: stage for stage in chain.stages}


@examples(40)
@given(snapshots())
def test_stages_are_what_the_layout_comes_to_and_bounds_hold(s: Snapshot) -> None:
    choices = choices_of(s)
    layout, stages = _solved(s)
    assert broken_rows(choices, values_of(choices, layout)) == []
    assert list(stages) == ["place", "at_risk", "points", "holes", "canonical"]
    assert stages["place"].objective == sum(layout.weights()) <= stages["place"].bound
    assert stages["at_risk"].objective == at_risk_taken(layout) >= stages["at_risk"].bound
    assert stages["points"].objective == points.earned(layout) <= stages["points"].bound
    placed, most = that_start(layout.weights()), that_start(best(s))
    assert placed <= most
    if len(best(s)) == 1:
        assert sum(most) <= stages["place"].bound
    if stages["place"].status == "OPTIMAL":
        assert placed == most


@examples(40)
@given(of_sizes())
def test_where_sizes_divide_each_other_the_most_is_placed_and_proven(s: Snapshot) -> None:
    layout, stages = _solved(s)
    assert layout.weights() == best(s)
    assert stages["place"].status == "OPTIMAL"


@pytest.mark.parametrize("sizes", [(2, 4, 4, 5, 2, 3), (3, 2, 3, 4, 3, 5)])
def test_what_cells_do_not_settle_is_found_on_hosts(sizes: tuple[int, ...]) -> None:
    # Each fills two machines of ten in one way only.
    runs = [run(f"r{number}", size) for number, size in enumerate(sizes)]
    layout, stages = _solved(snapshot([machine("m", 10), machine("n", 10)], runs))
    assert (layout.weights(), stages["place"].status) == ((160,), "OPTIMAL")


def test_a_higher_tier_comes_first() -> None:
    runs = [run("high", 3, priority=1), run("a", 2), run("b", 2), run("c", 1)]
    layout, stages = _solved(snapshot([machine("m", 4)], runs))
    assert started_in(layout) == {"high": 1, "a": 0, "c": 1}
    assert stages["place"].objective == 24 + 8


def test_gpus_at_risk_are_spared_for_the_same_runs() -> None:
    cards = [card(), card(), RISKY]
    s = snapshot([machine("m", cards), machine("n", cards)], [run("a", 2), run("b", 1)])
    layout, stages = _solved(s)
    assert fewest_at_risk(s, {"a": 1, "b": 1}) == 0
    assert (stages["at_risk"].objective, stages["at_risk"].status) == (0, "OPTIMAL")
    assert sorted(map(len, workers_in(layout).values())) == [1, 1]


def test_points_move_workers_to_where_they_earn_most() -> None:
    machines = [machine("large", 8), machine("small", 2), machine("none")]
    s = snapshot(machines, [run("gpus", 2), run("cores", cpu_cores=1)])
    assert workers_in(_solved(s)[0]) == {"small": {"gpus": 1}, "none": {"cores": 1}}


def test_a_chain_that_is_over_still_gives_a_valid_layout_and_all_stages() -> None:
    interrupt = Interrupt()
    interrupt.ask()
    runs = [run(f"r{number}", size) for number, size in enumerate((2, 4, 4, 5, 2, 3))]
    s = snapshot([machine("m", 10), machine("n", 10)], runs)
    chain = Chain(Settings(), interrupt)
    layout, stages = _solved(s, chain)
    choices = choices_of(s)
    assert broken_rows(choices, values_of(choices, layout)) == []
    assert (len(stages), chain.cut) == (5, "interrupted")
    assert 0 < layout.weights()[0] <= 160


def test_a_watcher_is_told_what_starts_from_the_first_answer_on() -> None:
    told: list[Progress] = []
    s = snapshot([machine("m", 4)], [run("a", 1), run("b", 2)])
    _solved(s, Chain(Settings(), Interrupt(), told.append))
    assert (told[0].stage, told[0].starting, told[0].gap) == ("place, greedy", 2, 0)
