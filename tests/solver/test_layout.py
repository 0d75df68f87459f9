from __future__ import annotations

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.snapshot import Snapshot
from stowplan.solver.grid import CORES, Ints
from stowplan.solver.handout import at_risk_taken
from stowplan.solver.layout import Layout
from tests.build import after, card, machine, run, snapshot
from tests.solver.cycles import grid_of, workers_in
from tests.solver.fills import filled_at_random
from tests.strategies import examples, snapshots

RISKY = card(health="at_risk")


def _layout() -> Layout:
    """Of a, two GPUs and 3 cores; b, one GPU; c, 4 cores; on m, 8 GPUs, and n, none."""
    machines = [machine("m", 8, cpu_cores=20), machine("n", cpu_cores=10)]
    runs = [run("a", 2, cpu_cores=3), run("b", 1), run("c", cpu_cores=4), run("d", cpu_cores=4)]
    return Layout(grid_of(snapshot(machines, runs)))


def _at(*places: int) -> Ints:
    return np.array(places, np.int64)


def test_what_is_put_is_taken_from_the_room() -> None:
    layout = _layout()
    layout.put(0, _at(0), _at(2))
    layout.put(2, _at(0, 1), _at(1, 2))
    assert layout.room[CORES].tolist() == [20_000 - 6000 - 4000, 10_000 - 8000]
    assert (layout.free.tolist(), layout.sound.tolist()) == ([4, 0], [4, 0])
    assert [layout.slots(index).tolist() for index in range(3)] == [[2], [4], [2, 0]]
    assert layout.slots(2, _at(1)).tolist() == [0]
    assert workers_in(layout) == {"m": {"a": 2, "c": 1}, "n": {"c": 2}}


def test_fewer_may_be_set_than_were_put() -> None:
    layout = _layout()
    layout.put(0, _at(0), _at(3))
    layout.set(0, 0, 1)
    layout.set(1, 0, 2)
    assert (layout.free.tolist(), layout.room[CORES, 0]) == ([4, 0], 17_000)
    assert (layout.on(0), layout.on(1)) == ([(0, 1), (1, 2)], [])
    assert layout.by_host() == [layout.on(0), layout.on(1)]


def test_workers_are_counted_over_hosts_where_they_could_be_and_others() -> None:
    layout = _layout()
    layout.put(2, _at(0, 1), _at(3, 2))
    assert [layout.workers_in(2, _at(*some)) for some in ((0,), (1,), (0, 1), ())] == [3, 2, 5, 0]
    assert layout.workers_in(0, _at(0, 1)) == 0


def test_a_copy_changes_apart_from_what_it_was_copied_from() -> None:
    layout = _layout()
    other = layout.copy()
    other.put(0, _at(0), _at(1))
    other.start(0, [1])
    other.started[2][0] += 1
    assert workers_in(layout) == {}
    assert layout.started == [[0], [0], [0]]
    assert layout.free.tolist() == [8, 0]
    assert layout.room.tolist() == layout.grid.room.tolist()


def test_the_oldest_start_first() -> None:
    waited = {"a": 0, "b": 3000, "c": 3000, "d": 6000}
    runs = [run(name, 1, submitted_at=after(-seconds)) for name, seconds in waited.items()]
    layout = Layout(grid_of(snapshot([machine("m", 4)], runs)))
    for count, started in ((0, [0, 0, 0]), (2, [1, 1, 0]), (4, [1, 2, 1])):
        layout.start_oldest(0, count)
        assert (layout.started, layout.waiting(0)) == ([started], 4 - count)


def test_weights_are_told_by_tier_the_highest_first() -> None:
    runs = [run("a", 1), run("b", 3, priority=2), run("c", 1, submitted_at=after(-21_600))]
    layout = Layout(grid_of(snapshot([machine("m", 9)], runs)))
    for index, each in enumerate(layout.grid.classes):
        layout.start(index, [cohort.count for cohort in each.cohorts])
    assert layout.weights() == (3 * 8, 16 + 8)


def test_gpus_at_risk_are_taken_once_the_sound_ones_are_gone() -> None:
    runs = [run(name, 1) for name in "abc"]
    layout = Layout(grid_of(snapshot([machine("m", [card(), RISKY, card()])], runs)))
    for workers, sound, risk in ((1, 1, 0), (2, 0, 0), (3, -1, 1)):
        layout.set(0, 0, workers)
        assert (layout.sound.tolist(), at_risk_taken(layout)) == ([sound], risk)


@examples(100)
@given(snapshots(), st.randoms(use_true_random=False))
def test_room_that_is_left_and_taken_add_up_to_what_there_was(
    s: Snapshot, draw: random.Random
) -> None:
    layout = filled_at_random(grid_of(s), draw)
    again = Layout(layout.grid)
    for host, there in enumerate(layout.by_host()):
        for index, workers in there:
            again.set(index, host, workers)
            assert layout.workers_in(index, _at(host)) == workers
    assert again.room.tolist() == layout.room.tolist()
    assert (again.free.tolist(), again.sound.tolist()) == (
        layout.free.tolist(),
        layout.sound.tolist(),
    )
    for index in range(len(again.placed)):
        again.clear(index)
    assert again.room.tolist() == layout.grid.room.tolist()
    assert int(layout.free.min(initial=0)) >= 0
