from __future__ import annotations

import pytest
from hypothesis import given

from stowplan.model.snapshot import Snapshot
from stowplan.solver.choices import Choices
from stowplan.solver.greedy import fill, fullest_first, greedy, in_line, like_itself
from stowplan.solver.handout import at_risk_taken
from stowplan.solver.layout import Layout
from stowplan.solver.values import values_of
from tests.build import Document, after, card, machine, run, snapshot
from tests.solver.cycles import (
    broken_rows,
    choices_of,
    over_cells,
    place_of,
    started_in,
    workers_in,
)
from tests.strategies import examples, snapshots


def _best(choices: Choices) -> Layout:
    return greedy(choices, lambda layout: False)


def _filled(choices: Choices) -> Layout:
    layout = Layout(choices.grid)
    fill(choices, layout)
    return layout


@examples(80)
@given(snapshots())
def test_no_way_of_filling_breaks_a_row(snapshot: Snapshot) -> None:
    choices = choices_of(snapshot)
    for choice in (fullest_first, like_itself):
        layout = Layout(choices.grid)
        fill(choices, layout, in_line, choice)
        assert broken_rows(choices, values_of(choices, layout)) == []
    assert broken_rows(choices, values_of(choices, _best(choices))) == []


@examples(80)
@given(snapshots())
def test_filling_up_stops_nothing_and_a_second_time_adds_nothing(snapshot: Snapshot) -> None:
    layout = _filled(choices := choices_of(snapshot))
    before = layout.copy()
    fill(choices, layout)
    assert (layout.there, layout.started) == (before.there, before.started)


@examples(60)
@given(snapshots())
def test_it_fills_over_cells_as_it_does_host_by_host(snapshot: Snapshot) -> None:
    # What starts is bound by rows over starts alone, which are the same in both programs.
    by_host, by_cell = choices_of(snapshot), over_cells(snapshot)
    assert workers_in(_best(by_host)) == workers_in(_best(by_cell))


def test_a_full_answer_is_found_where_filling_is_enough() -> None:
    runs = [run("a", 1), run("b", 4), run("c", 2), run("d", 1, workspace="v")]
    choices = choices_of(snapshot([machine("m", 4), machine("n", 4)], runs))
    assert set(started_in(_best(choices)).values()) == {1}


@examples(60)
@given(snapshots())
def test_what_a_layout_to_start_from_places_stays(snapshot: Snapshot) -> None:
    choices = choices_of(snapshot)
    start = _filled(choices)  # of which gangs, and strict queues, are left there
    for index, each in enumerate(choices.classes):
        if each.ask.tasks == 1 and not choices.limits.lines:
            start.clear(index)
            start.start_oldest(index, 0)
    before = start.copy()
    found = greedy(choices, lambda layout: False, start)
    for own, there in zip(found.there, start.there, strict=True):
        assert all(own.get(index, 0) >= count for index, count in there.items())
    assert broken_rows(choices, values_of(choices, found)) == []
    assert (start.started, start.room.tolist()) == (before.started, before.room.tolist())


def test_it_stops_with_the_first_way_that_is_enough() -> None:
    # By age the four wait longest; a larger run would fill the machine whole.
    old = [run(f"old{n}", 1, submitted_at=after(-(10**6))) for n in range(3)]
    choices = choices_of(snapshot([machine("m", 4)], [*old, run("new", 4)]))
    seen: list[tuple[int, ...]] = []

    def second(layout: Layout) -> bool:
        seen.append(layout.weights())
        return len(seen) == 2

    greedy(choices, second)
    assert len(seen) == 2
    assert seen[0] <= seen[1]


def test_cpu_work_leaves_gpu_machines_alone() -> None:
    runs = [run("a", cpu_cores=40), run("b", 1, per_gpu={"cpu_cores": 40})]
    choices = choices_of(snapshot([machine("m", 1), machine("n")], runs))
    assert workers_in(_filled(choices)) == {"m": {"b": 1}, "n": {"a": 1}}


def test_sound_gpus_are_given_before_those_at_risk() -> None:
    cards = [card(health="at_risk"), card()]
    choices = choices_of(snapshot([machine("m", cards)], [run("a", 1)]))
    assert at_risk_taken(_filled(choices)) == 0


def test_machines_without_gpus_at_risk_are_filled_first() -> None:
    cards = [card(), card(health="at_risk")]
    choices = choices_of(snapshot([machine("m", cards), machine("n", 8)], [run("a", 2)]))
    assert workers_in(_filled(choices)) == {"n": {"a": 1}}


def test_the_least_that_is_left_over_is_best() -> None:
    choices = choices_of(snapshot([machine("m", 8), machine("n", 3)], [run("a", 2), run("b", 3)]))
    grid = choices.grid
    order = fullest_first(Layout(grid), 0)
    # a's two GPUs leave none of m's eight over if more like it come, of n's three always one.
    assert grid.where[0][order].tolist() == [place_of(grid, "m"), place_of(grid, "n")]


def test_cores_for_a_gpu_that_are_like_what_is_asked_come_first() -> None:
    # With 8 cores for a GPU, the run belongs on n; that m is named first makes no difference.
    machines = [machine("m", 4, cpu_cores=64), machine("n", 4, cpu_cores=32)]
    choices = choices_of(snapshot(machines, [run("a", 2, cpu_cores=16)]))
    order = like_itself(Layout(choices.grid), 0)
    assert [choices.grid.hosts[place].name for place in order] == ["n", "m"]


@pytest.mark.parametrize("order", [1, -1])
def test_a_strict_queue_is_filled_in_line(order: int) -> None:
    runs: list[Document] = [run("a", 3), run("b", 2), run("c", 1)]
    s = snapshot([machine("m", 4)], runs[::order], policy={"queue": "strict"})
    assert started_in(_best(choices_of(s))) == {"a": 1, "b": 0, "c": 0}


@pytest.mark.parametrize(("cores", "runs"), [((4, 2, 2), 2), ((4, 4, 1), 2), ((8, 2, 1), 1)])
def test_workers_that_never_share_are_on_different_hosts(cores: list[int], runs: int) -> None:
    # Each run takes 2 cores on each of two hosts; 8 cores bear no second worker of a run.
    machines = [machine(f"m{n}", cpu_cores=count) for n, count in enumerate(cores)]
    gangs = [run(name, machines=2, cpu_cores=2) for name in "ab"]
    choices = choices_of(snapshot(machines, gangs))
    assert started_in(_filled(choices)) == {"a": runs}


def test_a_program_without_variables_is_filled_at_once() -> None:
    choices = choices_of(snapshot([], [run("a", 1)]))
    assert _best(choices).weights() == (0,)
