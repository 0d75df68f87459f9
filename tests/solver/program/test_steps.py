"""Searching in steps finds what one search finds, and its bound is of the whole program."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stowplan.solver.program import steps
from stowplan.solver.program.linear import Goal, Program
from stowplan.solver.program.search import Limits, search
from stowplan.solver.program.steps import search_in_steps
from tests.solver.programs import answers_of, goals, programs
from tests.strategies import examples

PROVE = Limits(deterministic=10, wall_s=60, gap=0, workers=1, seed=1)


@examples(150)
@given(st.data())
def test_it_equals_one_search(data: st.DataObject) -> None:
    program = data.draw(programs())
    goal = data.draw(goals(program))
    answers = list(answers_of(program, {}))
    assume(answers)
    hint = list(data.draw(st.sampled_from(answers)))
    low, high = program.range(goal.terms)
    trivial = high if goal.maximise else low
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "RESTRICTED", 0)
        found = search_in_steps(program, goal, hint, PROVE, trivial=trivial, fixed={})
    whole = search(program, goal, hint, PROVE, trivial=trivial)
    assert found.objective == whole.objective == found.bound
    assert goal.terms.at(found.values) == found.objective


def test_a_program_with_products_is_searched_at_once() -> None:
    program = Program()
    x, y = program.variable(3), program.variable(3)
    program.post("row", [x + y <= 4])
    area = program.product(x, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "RESTRICTED", 0)
        found = search_in_steps(
            program, Goal(area, maximise=True), [0, 0, 0], PROVE, trivial=9, fixed={}
        )
    assert found.objective == 4


def test_fixed_variables_keep_their_values() -> None:
    program = Program()
    x, y = program.variable(3), program.variable(3)
    program.post("row", [x + y <= 4])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "RESTRICTED", 0)
        goal = Goal(x * 2 + y, maximise=True)
        found = search_in_steps(program, goal, [1, 0], PROVE, trivial=9, fixed={0: 1})
    assert found.values == [1, 3]


@examples(100)
@given(st.data())
def test_with_fixed_variables_further_rows_and_a_gap_its_values_are_lawful_and_its_bound_holds(
    data: st.DataObject,
) -> None:
    program = data.draw(programs())
    goal = data.draw(goals(program))
    answers = list(answers_of(program, {}))
    assume(answers)
    hint = list(data.draw(st.sampled_from(answers)))
    columns = data.draw(st.sets(st.integers(0, len(hint) - 1), max_size=2))
    fixed = {column: hint[column] for column in columns}
    kept = data.draw(goals(program))
    now = kept.terms.at(hint)
    also = [kept.terms >= now if kept.maximise else kept.terms <= now]
    gap = data.draw(st.sampled_from((0.0, 0.5)))
    limits = Limits(deterministic=10, wall_s=60, gap=gap, workers=1, seed=1)
    low, high = program.range(goal.terms)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "RESTRICTED", 0)
        found = search_in_steps(
            program, goal, hint, limits,
            trivial=high if goal.maximise else low, fixed=fixed, also=also,
        )  # fmt: skip
    lawful = answers_of(program, fixed, also)
    assert list(found.values) in lawful
    best = (max if goal.maximise else min)(goal.terms.at(each) for each in lawful)
    assert found.objective == goal.terms.at(found.values)
    if goal.maximise:
        assert found.objective <= best <= found.bound
    else:
        assert found.bound <= best <= found.objective
    assert gap or found.objective == best
