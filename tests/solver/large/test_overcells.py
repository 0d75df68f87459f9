from __future__ import annotations

import pytest
from hypothesis import given

from stowplan.model.snapshot import Snapshot
from stowplan.solver.chain import Chain, Tally
from stowplan.solver.choices import Choices
from stowplan.solver.greedy import greedy
from stowplan.solver.interrupt import Interrupt
from stowplan.solver.large import overcells
from stowplan.solver.large.bounds import Bounds
from stowplan.solver.large.overcells import better_over_cells
from stowplan.solver.layout import Layout
from stowplan.solver.settings import Settings
from stowplan.solver.values import values_of
from tests.build import machine, run, snapshot
from tests.oracle import best
from tests.solver.cycles import broken_rows, choices_of, over_cells, started_in
from tests.solver.test_levels import of_sizes
from tests.strategies import examples, snapshots


def _better(choices: Choices, layout: Layout, **settings: float) -> tuple[Layout, Chain, Bounds]:
    chain = Chain(Settings.model_validate({"gap": 0, **settings}), Interrupt())
    bounds = Bounds(choices)
    return better_over_cells(bounds, layout, chain, Tally("place")), chain, bounds


@examples(50)
@given(snapshots())
def test_it_is_valid_and_no_tier_weighs_less_unless_a_higher_one_weighs_more(s: Snapshot) -> None:
    choices, by_host = over_cells(s), choices_of(s)
    for layout in (greedy(choices, lambda it: True), Layout(choices.grid)):
        before = layout.weights()
        found, _, bounds = _better(choices, layout)
        assert found.weights() >= before
        assert broken_rows(by_host, values_of(by_host, found)) == []
        assert found.weights() <= bounds.of(found.started)


@examples(40)
@given(of_sizes())
def test_where_sizes_divide_each_other_nothing_is_lost(s: Snapshot) -> None:
    choices = over_cells(s)
    found, _, _ = _better(choices, Layout(choices.grid))
    assert found.weights() == best(s)


def test_what_starts_above_stays() -> None:
    # The high run of 3 GPUs keeps its place, though without it two of 2 would weigh more.
    runs = [run("high", 3, priority=1), run("a", 2), run("b", 2)]
    choices = over_cells(snapshot([machine("m", 4)], runs))
    found, _, _ = _better(choices, Layout(choices.grid))
    assert started_in(found) == {"high": 1, "a": 0}


def test_an_answer_that_would_break_a_line_is_not_taken() -> None:
    # The cell could hold all 2 + 3 + 3; on two machines of 4 the larger ones leave a out, which
    # stands before them.
    runs = [run("a", 2), run("b", 3), run("c", 3)]
    s = snapshot([machine(name, 4) for name in "mn"], runs, policy={"queue": "strict"})
    choices = over_cells(s)
    assert _better(choices, Layout(choices.grid))[0].weights() == (0,)
    found, _, _ = _better(choices, greedy(choices, lambda it: False))
    assert started_in(found) == {"a": 1, "b": 1}


def test_without_time_the_layout_is_returned_as_it_is_or_filled_up() -> None:
    choices = over_cells(snapshot([machine("m", 4)], [run("a", 2), run("b", 3)]))
    layout = greedy(choices, lambda it: False)
    found, chain, _ = _better(choices, layout, time_limit_s=0)
    assert found.weights() == layout.weights()
    assert chain.cut == "wall_time"


def test_a_large_program_is_first_searched_where_its_relaxation_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(overcells, "RESTRICTED", 0)
    runs = [run(f"r{number}", size) for number, size in enumerate((4, 4, 2, 2, 1, 1))]
    choices = over_cells(snapshot([machine("m", 6), machine("n", 6)], runs))
    found, _, _ = _better(choices, Layout(choices.grid))
    assert found.weights() == (8 * 12,)
