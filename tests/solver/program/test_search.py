from __future__ import annotations

import itertools

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stowplan.model.errors import InternalError
from stowplan.solver.program.linear import Goal, Program, Sum
from stowplan.solver.program.search import Limits, search, whole_bound
from tests.solver.programs import answers_of, goals, programs
from tests.strategies import examples

PROVE = Limits(deterministic=10, wall_s=60, gap=0, workers=1, seed=1)


@examples(80)
@given(st.data())
def test_a_search_without_a_gap_finds_the_best_of_all_answers(data: st.DataObject) -> None:
    program = data.draw(programs())
    if data.draw(st.booleans()):
        program.product(Sum({0: 1}), Sum({len(program.upper) - 1: 1}, 1))
    fixed = {0: program.upper[0]} if data.draw(st.booleans()) else {}
    also = [Sum(dict.fromkeys(range(len(program.upper)), 1)) <= 3]
    answers = answers_of(program, fixed, also)
    assume(answers)
    goal, hint = data.draw(goals(program)), data.draw(st.sampled_from(answers))
    low, high = program.range(goal.terms)
    trivial = high if goal.maximise else low
    found = search(program, goal, hint, PROVE, trivial=trivial, fixed=fixed, also=also)
    best = (max if goal.maximise else min)(goal.terms.at(values) for values in answers)
    assert found.values in answers
    assert (found.status, found.objective, found.bound) == ("OPTIMAL", best, best)
    assert goal.terms.at(found.values) == best


@examples(60)
@given(st.data())
def test_a_search_cut_short_is_no_worse_than_its_hint_and_its_bound_holds(
    data: st.DataObject,
) -> None:
    program = data.draw(programs())
    answers = answers_of(program)
    assume(answers)
    goal, hint = data.draw(goals(program)), data.draw(st.sampled_from(answers))
    low, high = program.range(goal.terms)
    limits = Limits(deterministic=1e-9, wall_s=60, gap=0, workers=1, seed=1)
    found = search(program, goal, hint, limits, trivial=high if goal.maximise else low)
    sign = 1 if goal.maximise else -1
    best = max(sign * goal.terms.at(values) for values in answers)
    assert found.values in answers
    assert goal.terms.at(found.values) == found.objective
    assert sign * goal.terms.at(hint) <= sign * found.objective <= best <= sign * found.bound


def test_within_the_gap_is_proven() -> None:
    program = Program()
    x = program.variable(1000)
    goal = Goal(x, maximise=True)
    wide = Limits(deterministic=1e-9, wall_s=60, gap=0.5, workers=1, seed=1)
    assert search(program, goal, [999], wide, trivial=1000).status == "OPTIMAL"


def test_a_bound_that_is_known_already_is_never_worsened() -> None:
    program = Program()
    x = program.variable(9)
    program.post("half", [x * 2 <= 9])
    found = search(program, Goal(x, maximise=True), [0], PROVE, trivial=4)
    assert (found.values, found.bound) == ([4], 4)


def test_a_hint_that_breaks_a_row_is_our_own_mistake() -> None:
    program = Program()
    x, y = program.variable(3), program.variable(3)
    program.post("row", [x + y >= 5])
    with pytest.raises(InternalError, match="INFEASIBLE"):
        search(program, Goal(x, maximise=True), [3, 1], PROVE, trivial=3, fixed={1: 1})


def test_an_invalid_model_is_our_own_mistake() -> None:
    program = Program(lower=[3], upper=[1])
    with pytest.raises(InternalError, match="MODEL_INVALID"):
        search(program, Goal(Sum({0: 1}), maximise=True), [0], PROVE, trivial=3)


def test_a_search_keeps_its_log_to_itself(capfd: pytest.CaptureFixture[str]) -> None:
    program = Program()
    found = search(program, Goal(program.variable(3), maximise=True), [0], PROVE, trivial=3)
    assert "CpSolverResponse" in found.log
    assert capfd.readouterr() == ("", "")


def test_variables_that_the_goal_does_not_depend_on_keep_their_values() -> None:
    # x and y share a row, z and its row stand apart: z stays at its hint of 2.
    program = Program()
    x, y, z = (program.variable(4) for _ in range(3))
    program.post("one", [x + y <= 5])
    program.post("other", [z * 2 <= 7])
    found = search(program, Goal(x * 2 + y, maximise=True), [0, 0, 2], PROVE, trivial=12)
    assert (found.values, found.bound) == ([4, 1, 2], 9)


@pytest.mark.parametrize(
    ("bound", "most", "least"),
    [(7.0, 7, 7), (7.4, 7, 8), (6.9999999, 7, 7), (7.0000001, 7, 7), (-7.4, -8, -7)],
)
def test_a_bound_is_rounded_to_what_whole_numbers_allow(
    bound: float, most: int, least: int
) -> None:
    assert (whole_bound(bound, maximise=True), whole_bound(bound, maximise=False)) == (most, least)


def test_the_same_search_finds_the_same_answer() -> None:
    program = Program()
    columns = [program.variable(4) for _ in range(5)]
    weights = (3, 5, 7, 11, 13)
    for first, second in itertools.pairwise(columns):
        program.post("pair", [first * 3 + second * 2 <= 11])
    terms = Sum(dict(enumerate(weights)))
    goal = Goal(terms, maximise=True)
    trivial = program.range(terms)[1]
    once, again = (search(program, goal, [0] * 5, PROVE, trivial=trivial) for _ in range(2))
    assert (once.values, once.bound) == (again.values, again.bound)
    assert once.deterministic == again.deterministic
