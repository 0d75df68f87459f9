from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import assume, given
from hypothesis import strategies as st

from stowplan.solver.program.linear import UNBOUNDED, Goal, Program, Row, Sum
from stowplan.solver.program.parts import Part, parts_of
from tests.solver.programs import answers_of, goals, programs
from tests.strategies import examples


def _best_of(part: Part, maximise: bool) -> int:
    """The best that a part's own program comes to, by trying every answer."""
    own = Program(part.lower, part.upper, part.rows, [""] * len(part.rows), part.products)
    worth = [part.value(values) for values in answers_of(own)]
    return max(worth) if maximise else min(worth)


@examples(120)
@given(st.data())
def test_parts_solved_one_by_one_come_to_the_best_of_all(data: st.DataObject) -> None:
    program = data.draw(programs(most=5))
    if data.draw(st.booleans()):
        program.product(Sum({0: 1}), Sum({len(program.upper) - 1: 1}, 1))
    answers = answers_of(program)
    assume(answers)
    goal, hint = data.draw(goals(program)), data.draw(st.sampled_from(answers))
    targets = {product.target for product in program.products}
    some = data.draw(st.sets(st.sampled_from(range(len(hint)))))
    fixed = {column: hint[column] for column in some - targets}
    parts = parts_of(program, goal, hint, fixed)
    free = set(goal.terms.terms) - set(fixed)
    known = goal.terms.constant
    known += sum(value * hint[c] for c, value in goal.terms.terms.items() if c not in free)
    left = [each for each in answers if all(each[c] == value for c, value in fixed.items())]
    best = (max if goal.maximise else min)(goal.terms.at(values) for values in left)
    assert known + sum(_best_of(part, goal.maximise) for part in parts) == best


@examples(120)
@given(st.data())
def test_parts_share_no_variable_and_no_row(data: st.DataObject) -> None:
    program = data.draw(programs(most=5))
    goal, hint = data.draw(goals(program)), list(program.upper)
    parts = parts_of(program, goal, hint, {})
    owner = {column: part for part in parts for column in part.columns}
    assert len(owner) == sum(len(part.columns) for part in parts)
    assert set(goal.terms.terms) <= set(owner)
    for row in program.rows:
        assert len({id(owner.get(column)) for column in row.terms}) <= 1
    rows = [row for row in program.rows if set(row.terms) & set(owner)]
    assert sum(len(part.rows) for part in parts) == len(rows)
    for part in parts:
        low, high = part.range()
        assert low <= part.value(part.hint) <= high


def _columns(
    program: Program, goal: Sum, fixed: Mapping[int, int], also: Sequence[Row] = ()
) -> list[list[int]]:
    hint = [fixed.get(column, 0) for column in range(len(program.upper))]
    return [part.columns for part in parts_of(program, Goal(goal, True), hint, fixed, also)]


def test_variables_hang_together_by_rows_and_products() -> None:
    program = Program()
    v, w, x, y, z = (program.variable(3) for _ in range(5))
    program.post("one", [v + w <= 4])
    program.post("other", [y + z <= 4])
    everything = v + w + x + y + z
    assert _columns(program, everything, {}) == [[0, 1], [2], [3, 4]]
    assert _columns(program, everything, {}, [w + x <= 4]) == [[0, 1, 2], [3, 4]]
    target = program.product(x, y)
    assert _columns(program, everything + target, {}) == [[0, 1], [2, 3, 4, 5]]


def test_a_fixed_variable_holds_nothing_together_and_is_in_no_part() -> None:
    program = Program()
    x, y, z = (program.variable(3) for _ in range(3))
    program.post("row", [x + y * 2 + z <= 7])
    assert _columns(program, x + z, {}) == [[0, 1, 2]]
    program = Program()
    x, y, z = (program.variable(3) for _ in range(3))
    program.post("pairs", [x + y <= 4, y + z <= 4])
    assert _columns(program, x + z, {1: 3}) == [[0], [2]]


def test_fixed_variables_are_put_into_rows_and_products_at_their_values() -> None:
    program = Program()
    x, y = program.variable(9), program.variable(9)
    target = program.product(x + 1, y * 2)
    program.post("row", [(x * 2 + y * 3 + target) <= 50])
    [part] = parts_of(program, Goal(x * 5, True), [4, 2, 20], {1: 2})
    assert (part.columns, part.lower, part.upper, part.hint) == ([0, 2], [0, 0], [9, 180], [4, 20])
    assert (part.goal, part.range()) == ({0: 5}, (0, 45))
    assert part.rows == [Row({0: 2, 1: 1}, -UNBOUNDED, 44)]
    [product] = part.products
    assert (product.target, product.left, product.right) == (1, Sum({0: 1}, 1), Sum({}, 4))


def test_what_the_goal_does_not_depend_on_is_left_out() -> None:
    program = Program()
    x, y, z = (program.variable(3) for _ in range(3))
    program.post("row", [y + z <= 4])
    assert _columns(program, x, {}) == [[0]]
    assert _columns(program, Sum({}, 5), {}) == []
    assert _columns(program, x, {0: 2}) == []
