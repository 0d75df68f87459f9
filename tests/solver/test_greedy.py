from __future__ import annotations

import pytest
from hypothesis import given

from stowplan.model.snapshot import Snapshot
from stowplan.solver.choices import Choices
from stowplan.solver.greedy import filled, first_fit, greedy
from tests.build import Document, card, machine, run, snapshot
from tests.solver.cycles import choices_of, keeps_every_row
from tests.strategies import examples, snapshots


def _started(choices: Choices, values: list[int]) -> dict[str, int]:
    return {each.name: choices.starts(each).at(values) for each in choices.classes}


@examples(100)
@given(snapshots())
def test_no_way_of_filling_breaks_a_row(snapshot: Snapshot) -> None:
    choices = choices_of(snapshot)
    nothing = [0] * len(choices.program.upper)
    for values in (greedy(choices), filled(choices, nothing), first_fit(choices, nothing)):
        assert keeps_every_row(choices, values)


@examples(60)
@given(snapshots())
def test_filling_up_stops_nothing_and_a_second_time_adds_nothing(snapshot: Snapshot) -> None:
    choices = choices_of(snapshot)
    before = first_fit(choices, [0] * len(choices.program.upper))
    after = filled(choices, before)
    assert all(map(int.__le__, before, after))
    again = filled(choices, after)
    assert again == after


def test_a_full_answer_is_found_where_filling_is_enough() -> None:
    runs = [run("a", 1), run("b", 4), run("c", 2), run("d", 1, workspace="v")]
    choices = choices_of(snapshot([machine("m", 4), machine("n", 4)], runs))
    assert set(_started(choices, greedy(choices)).values()) == {1}


def test_cpu_work_leaves_gpu_machines_alone() -> None:
    runs = [run("a", cpu_cores=40), run("b", 1, per_gpu={"cpu_cores": 40})]
    choices = choices_of(snapshot([machine("m", 1), machine("n")], runs))
    assert _started(choices, greedy(choices)) == {"a": 1, "b": 1}


def test_sound_gpus_are_given_before_those_at_risk() -> None:
    cards = [card(health="at_risk"), card()]
    choices = choices_of(snapshot([machine("m", cards)], [run("a", 1)]))
    assert choices.at_risk_taken().at(greedy(choices)) == 0


def test_gpus_that_fewer_could_use_are_given_first() -> None:
    cards = [card(), card(model="NVIDIA L4")]
    runs = [run("a", 1), run("b", {"count": 1, "models": ["H100"]})]
    choices = choices_of(snapshot([machine("m", cards)], runs))
    assert _started(choices, greedy(choices)) == {"a": 1, "b": 1}


@pytest.mark.parametrize("order", [1, -1])
def test_a_strict_queue_is_filled_in_line(order: int) -> None:
    runs: list[Document] = [run("a", 3), run("b", 2), run("c", 1)]
    s = snapshot([machine("m", 4)], runs[::order], policy={"queue": "strict"})
    choices = choices_of(s)
    assert _started(choices, greedy(choices)) == {"a": 1, "b": 0, "c": 0}


def test_a_program_without_variables_is_filled_at_once() -> None:
    choices = choices_of(snapshot([], [run("a", 1)]))
    assert greedy(choices) == []
