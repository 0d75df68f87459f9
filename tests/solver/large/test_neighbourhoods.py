from __future__ import annotations

import itertools
from collections.abc import Iterator

from hypothesis import given

from stowplan.model.snapshot import Snapshot
from stowplan.solver import points
from stowplan.solver.chain import Chain, Tally
from stowplan.solver.greedy import fill, greedy
from stowplan.solver.handout import at_risk_taken
from stowplan.solver.interrupt import Interrupt
from stowplan.solver.large.neighbourhoods import Neighbourhoods
from stowplan.solver.layout import Layout
from stowplan.solver.settings import Settings
from stowplan.solver.values import values_of
from tests.build import Document, card, machine, run, snapshot
from tests.solver.cycles import (
    broken_rows,
    choices_of,
    class_of,
    limits_of,
    place_of,
    started_in,
    workers_in,
)
from tests.strategies import examples, snapshots


def _rooms(s: Snapshot, layout: Layout) -> Neighbourhoods:
    chain = Chain(Settings(gap=0), Interrupt())
    return Neighbourhoods("place", layout, limits_of(s, layout.grid), chain, Tally("place"))


def _some[T](steps: Iterator[T], most: int = 3) -> Iterator[T]:
    return itertools.islice(steps, most)


@examples(40)
@given(snapshots())
def test_a_step_keeps_every_row_and_is_as_much_better_as_it_says(s: Snapshot) -> None:
    choices = choices_of(s)
    layout = greedy(choices, lambda it: True)
    rooms = _rooms(s, layout)
    for _ in _some(rooms.start_more()):
        assert broken_rows(choices, values_of(choices, layout)) == []
    started, risk = [list(own) for own in layout.started], at_risk_taken(layout)
    for gain in _some(rooms.spare_at_risk(), 2):
        risk -= gain.amount
        assert at_risk_taken(layout) == risk
    earned = points.earned(layout)
    for gain in _some(rooms.earn_points()):
        earned += gain.amount
        assert points.earned(layout) == earned
        assert at_risk_taken(layout) <= risk
        assert broken_rows(choices, values_of(choices, layout)) == []
    assert layout.started == started


@examples(40)
@given(snapshots())
def test_no_tier_weighs_less_unless_a_higher_one_weighs_more(s: Snapshot) -> None:
    layout = Layout(choices_of(s).grid)
    before = layout.weights()
    for _ in _some(_rooms(s, layout).start_more()):
        assert layout.weights() >= before
        before = layout.weights()


def test_a_neighbourhood_repacks_what_was_packed_badly() -> None:
    # In line, each on the fullest: 2 + 2 on m and 3 on n; the last 3 fits nowhere. 3 + 2 twice do.
    runs = [run("a", 2), run("b", 2), run("c", 3), run("d", 3)]
    s = snapshot([machine("m", 5), machine("n", 5)], runs)
    choices = choices_of(s)
    layout = Layout(choices.grid)
    fill(choices, layout)
    assert layout.weights() == (8 * 7,)
    gain = next(_rooms(s, layout).start_more())
    assert (gain.amount, layout.weights()) == (8 * 3, (8 * 10,))


def _with(s: Snapshot, run: str, *hosts: str) -> Layout:
    """The layout of one run that starts with a worker on each host."""
    layout = Layout(choices_of(s).grid)
    index = layout.grid.classes.index(class_of(layout.grid, run))
    for host in hosts:
        layout.set(index, place_of(layout.grid, host), 1)
    layout.start(index, [1])
    return layout


def test_a_run_of_a_higher_tier_takes_the_place_of_lower_ones() -> None:
    runs = [run("low", 2), run("high", 1, priority=1, per_gpu={"cpu_cores": 40})]
    s = snapshot([machine("m", 2, cpu_cores=40)], runs)
    layout = _with(s, "low", "m")
    next(_rooms(s, layout).start_more())
    assert workers_in(layout) == {"m": {"high": 1}}


def _endless(tier: int, gpus: int) -> Document:
    """An array of so many elements that three of them outgrow the sum of weights over tiers."""
    array = {"size": 10**6, "max_parallel": 1}
    return run(f"low{tier}", gpus, priority=tier, array=array)


def test_a_run_of_the_highest_of_many_tiers_keeps_its_place() -> None:
    arrays = [_endless(tier, 2) for tier in range(3)]
    s = snapshot([machine("m", 2)], [*arrays, run("high", 1, priority=3)])
    layout = _with(s, "high", "m")
    next(_rooms(s, layout).start_more())
    assert workers_in(layout) == {"m": {"high": 1}}


def test_nothing_is_proven_of_tiers_that_are_left_out() -> None:
    # Beside the high run there is one GPU: enough for the lowest tier only.
    arrays = [_endless(0, 1), _endless(1, 2), _endless(2, 2)]
    s = snapshot([machine("m", 2)], [*arrays, run("high", 1, priority=3)])
    layout = _with(s, "high", "m")
    gain = next(_rooms(s, layout).start_more())
    assert not gain.is_whole or started_in(layout)["low0"] == 1


def test_what_is_proven_where_nothing_is_left_out_holds_for_the_whole() -> None:
    # The gang weighs 2 x 8; four runs of half a machine, which it keeps out, 4 x 8.
    gang = run("gang", machines=2, cpu_cores=64)
    halves = [run(f"half{number}", cpu_cores=32) for number in range(4)]
    s = snapshot([machine("m"), machine("n")], [gang, *halves])
    layout = _with(s, "gang", "m", "n")
    gain = next(_rooms(s, layout).start_more())
    assert not gain.is_whole or gain.found.bound >= 32


def test_hosts_that_are_not_solved_stay_as_they_are() -> None:
    names = [f"m{number:02}" for number in range(40)]
    runs = [run(f"r{number:02}", 1, per_gpu={"cpu_cores": 40}) for number in range(40)]
    s = snapshot([machine(name, 1) for name in names], runs)
    layout = _with(s, "r00", "m00")
    changed = [sum(map(sum, layout.started)) for _ in _some(_rooms(s, layout).start_more(), 1)]
    assert 2 <= changed[0] < 40
    assert workers_in(layout)["m00"] == {"r00": 1}


def test_workers_move_off_gpus_at_risk_where_their_neighbours_have_room() -> None:
    cards = [card(health="at_risk")]
    s = snapshot([machine("m", cards), machine("n", 1)], [run("a", 1)])
    layout = _with(s, "a", "m")
    gain = next(_rooms(s, layout).spare_at_risk())
    assert (gain.amount, workers_in(layout)) == (1, {"n": {"a": 1}})


def test_where_there_are_no_hosts_there_is_nothing_to_solve() -> None:
    s = snapshot([machine("m", 1)], [run("a", 2)])
    rooms = _rooms(s, Layout(choices_of(s).grid))
    assert [*_some(rooms.start_more()), *_some(rooms.earn_points())] == []


def test_once_the_share_of_time_is_spent_no_more_is_solved_and_the_chain_says_so() -> None:
    s = snapshot([machine("m", 2), machine("n", 3)], [run("a", 1), run("b", 2), run("c", 2)])
    chain = Chain(Settings(time_limit_s=1000), Interrupt())
    layout, tally = Layout(choices_of(s).grid), Tally("points")
    rooms = Neighbourhoods("points", layout, limits_of(s, layout.grid), chain, tally)
    assert len(list(_some(rooms.start_more(), 1))) == 1
    tally.deterministic += chain.limits("points", 0).deterministic
    assert list(_some(rooms.earn_points())) == []
    assert chain.cut == "deterministic_time"


def test_the_same_seed_finds_the_same_layout() -> None:
    machines = [machine(f"m{index:02}", 4) for index in range(20)]
    runs = [run(f"r{index:02}", 1 + index % 3, cpu_cores=index % 7) for index in range(50)]
    s = snapshot(machines, runs)

    def found() -> dict[str, dict[str, int]]:
        layout = Layout(choices_of(s).grid)
        for _ in _some(_rooms(s, layout).start_more(), 4):
            pass
        return workers_in(layout)

    assert found() == found()
