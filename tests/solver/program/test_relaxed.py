from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stowplan.model.snapshot import Snapshot
from stowplan.solver.bound import weight
from stowplan.solver.program.linear import Goal, Program, Sum
from stowplan.solver.program.relaxed import Relaxed, relaxed
from stowplan.solver.program.search import Limits, search
from tests.solver.cycles import choices_of, over_cells
from tests.solver.programs import answers_of, goals, programs
from tests.strategies import examples, snapshots

FAR = 10**9
"""A trivial bound that is never the better one."""
PROVE = Limits(deterministic=10, wall_s=60, gap=0, workers=1, seed=1)


def _trivial(goal: Goal) -> int:
    return FAR if goal.maximise else -FAR


@examples(200)
@given(st.data())
def test_no_answer_is_better_than_the_bound_whatever_is_fixed(data: st.DataObject) -> None:
    program = data.draw(programs(most=5))
    if data.draw(st.booleans()):
        program.product(Sum({0: 1}), Sum({len(program.upper) - 1: 1}, 1))
    answers = answers_of(program)
    assume(answers)
    goal, values = data.draw(goals(program)), data.draw(st.sampled_from(answers))
    some = data.draw(st.sets(st.sampled_from(range(len(values)))))
    fixed = {column: values[column] for column in some}
    found = relaxed(program, goal, values, fixed, _trivial(goal))
    for each in answers:
        if all(each[column] == value for column, value in fixed.items()):
            own = goal.terms.at(each)
            assert own <= found.bound if goal.maximise else own >= found.bound
    assert not found.amounts.keys() & set(fixed)


@examples(60)
@given(st.data())
def test_large_numbers_make_no_bound_too_low(data: st.DataObject) -> None:
    # Bytes by the terabyte in the rows, weights by the million in the goal.
    program = Program()
    columns = [program.variable(data.draw(st.integers(1, 3))) for _ in range(4)]
    sizes = st.integers(1, 2**44)
    for _ in range(data.draw(st.integers(1, 3))):
        terms = [column * data.draw(sizes) for column in columns]
        program.post("memory", [sum(terms[1:], terms[0]) <= data.draw(sizes) * 4])
    worth = {column: data.draw(st.integers(1, 10**7)) for column in range(4)}
    goal = Goal(Sum(worth), maximise=True)
    best = max(goal.terms.at(values) for values in answers_of(program))
    assert relaxed(program, goal, [0] * 4, {}, FAR).bound >= best


@examples(40)
@given(snapshots(), st.booleans())
def test_what_a_tier_could_weigh_is_bounded(snapshot: Snapshot, cells: bool) -> None:
    choices = over_cells(snapshot) if cells else choices_of(snapshot)
    nothing = [0] * len(choices.program.upper)
    for tier in {each.ask.priority for each in choices.classes}:
        goal = Goal(weight(choices, tier), maximise=True)
        trivial = choices.program.range(goal.terms)[1]
        best = search(choices.program, goal, nothing, PROVE, trivial=trivial)
        assert best.status == "OPTIMAL"
        assert best.objective <= relaxed(choices.program, goal, nothing, {}, trivial).bound


# By hand.


def _most(program: Program, terms: Sum, trivial: int = FAR, **fixed: int) -> Relaxed:
    values = [fixed.get(f"v{column}", 0) for column in range(len(program.upper))]
    columns = {int(name[1:]): value for name, value in fixed.items()}
    return relaxed(program, Goal(terms, maximise=True), values, columns, trivial)


def test_where_rows_are_over_neighbours_the_bound_is_the_best() -> None:
    # Ones in a row side by side: every corner is whole. y = 2, x = 1 gives 5, so does x = 3, z = 2.
    program = Program()
    x, y, z = (program.variable(5) for _ in range(3))
    program.post("rows", [x + y <= 3, y + z <= 2])
    assert _most(program, x + y * 2 + z).bound == 5
    assert _most(program, x + y * 3 + z) == Relaxed(7, {0: 1.0, 1: 2.0, 2: 0.0})
    assert _most(program, x * 2 + y * 2 + z * 2 + 1).bound == 11


def test_a_transport_of_whole_amounts_has_the_best_for_its_bound() -> None:
    # Two senders of 3 and 2 to two takers of 4 and 1: worth 2 and 1, 3 and 1 a piece.
    program = Program()
    a, b, c, d = (program.variable(9) for _ in range(4))
    program.post("sent", [a + b <= 3, c + d <= 2])
    program.post("taken", [a + c <= 4, b + d <= 1])
    # 2 of c, 2 of a, 1 of b: 6 + 4 + 1.
    assert _most(program, a * 2 + b + c * 3 + d) == Relaxed(11, {0: 2.0, 1: 1.0, 2: 2.0, 3: 0.0})


def test_a_bound_is_rounded_to_what_whole_variables_can_give() -> None:
    # At a half each the three come to 1.5 of which whole ones reach 1; counted twice, 3 and 2.
    program = Program()
    x, y, z = (program.variable(1) for _ in range(3))
    program.post("pairs", [x + y <= 1, y + z <= 1, z + x <= 1])
    assert _most(program, x + y + z).bound == 1
    assert _most(program, (x + y + z) * 2).bound == 2
    assert _most(program, (x + y + z) * 2 + 7).bound == 9


def test_what_is_fixed_takes_its_share() -> None:
    program = Program()
    x, y = program.variable(5), program.variable(5)
    program.post("row", [x * 2 + y <= 7])
    assert _most(program, x * 3 + y).bound == 10  # x = 3, y = 1
    assert _most(program, x * 3 + y, v0=1).bound == 3 + 5
    assert _most(program, x * 3 + y, v0=1, v1=4).bound == 7
    assert _most(program, x * 3 + y, v1=5) == Relaxed(8, {0: 1.0})


def test_the_least_is_bounded_from_below() -> None:
    program = Program()
    x, y = program.variable(5), program.variable(5)
    program.post("row", [x * 2 + y * 3 >= 7])
    found = relaxed(program, Goal(x + y, maximise=False), [0, 0], {}, 0)
    assert (found.bound, found.amounts[0]) == (3, 0)
    assert found.amounts[1] == pytest.approx(7 / 3)


@pytest.mark.parametrize(("trivial", "bound"), [(4, 4), (6, 5)])
def test_a_better_bound_that_is_known_already_stands(trivial: int, bound: int) -> None:
    program = Program()
    x = program.variable(5)
    assert _most(program, x, trivial).bound == bound
