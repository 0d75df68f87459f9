from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.solver.program.linear import UNBOUNDED, ZERO, Program, Row, Sum, total
from tests.strategies import examples


def _points(program: Program) -> list[tuple[int, ...]]:
    """Every way to set the variables within their bounds."""
    ends = zip(program.lower, program.upper, strict=True)
    return list(itertools.product(*(range(low, high + 1) for low, high in ends)))


def _keeps(rows: list[Row], values: tuple[int, ...]) -> bool:
    return all(row.low <= Sum(row.terms).at(values) <= row.high for row in rows)


def test_sums_add_scale_and_subtract() -> None:
    x, y = Sum({0: 1}), Sum({1: 1})
    assert (x * 2 + y * 3 - x + 5).at([10, 100]) == 10 + 300 + 5
    assert (3 * x).at([4]) == 12
    assert total((x, 1, y, 2)) == Sum({0: 1, 1: 1}, 3)


def test_what_cancels_out_is_gone() -> None:
    x = Sum({0: 2}, 1)
    assert x - x == ZERO
    assert x * 0 == ZERO
    assert not x - x
    assert x


def test_a_row_has_its_constants_on_its_right() -> None:
    x, y = Sum({0: 1}), Sum({1: 1})
    assert (x + 1 <= y + 5) == Row({0: 1, 1: -1}, -UNBOUNDED, 4)
    assert (x >= 3) == Row({0: 1}, 3, UNBOUNDED)
    assert (x + 2).equals(y * 2) == Row({0: 1, 1: -2}, -2, -2)


def test_a_row_that_no_value_breaks_is_left_out() -> None:
    program = Program()
    x, y = program.variable(3), program.variable(2)
    program.post("loose", [x + y <= 5, x >= 0, ZERO <= 0])
    assert program.rows == []
    program.post("tight", [x + y <= 4])
    assert (len(program.rows), program.rules) == (1, ["tight"])


def test_a_row_without_variables_that_is_false_is_kept() -> None:
    program = Program()
    program.post("never", [ZERO + 1 <= 0])
    assert len(program.rows) == 1


def test_a_row_is_divided_by_what_its_numbers_share_and_rounded_inwards() -> None:
    program = Program()
    x, y = program.variable(9), program.variable(9)
    program.post("bytes", [x * 6 + y * 10 <= 31, x * -4 >= -7, (x * 2).equals(y * 4)])
    assert program.rows == [
        Row({0: 3, 1: 5}, -UNBOUNDED, 15),
        Row({0: -1}, -1, UNBOUNDED),
        Row({0: 1, 1: -2}, 0, 0),
    ]


def test_a_range_is_from_the_least_to_the_greatest_value() -> None:
    program = Program()
    x, y = program.variable(4), program.variable(2, lower=-1)
    assert program.range(x * 2 - y * 3 + 1) == (0 - 6 + 1, 8 + 3 + 1)
    assert program.range(ZERO) == (0, 0)


def test_a_product_is_bounded_by_its_corners_and_follows_from_the_rest() -> None:
    program = Program()
    x, y = program.variable(3), program.variable(4, lower=-2)
    target = program.product(x + 1, y * 2)
    (column,) = target.terms
    assert (program.lower[column], program.upper[column]) == (4 * -4, 4 * 8)
    assert program.completed([3, -2]) == [3, -2, -16]


@examples(100)
@given(st.data())
def test_rows_that_are_left_out_or_divided_allow_what_they_allowed(data: st.DataObject) -> None:
    program = Program()
    columns = [program.variable(3) for _ in range(3)]
    terms = total(column * data.draw(st.integers(-6, 6)) for column in columns)
    row = data.draw(st.sampled_from((terms <= 7, terms >= -5, terms.equals(6))))
    program.post("rule", [row])
    for values in _points(program):
        assert _keeps(program.rows, values) == _keeps([row], values)


def test_a_copy_changes_apart_from_what_it_was_copied_from() -> None:
    program = Program()
    x, y = program.variable(5), program.variable(5)
    program.post("one", [x + y <= 6])
    copy = program.copy()
    copy.post("other", [copy.product(x, y) <= 9])
    assert (program.upper, program.rules, program.products) == ([5, 5], ["one"], [])
    assert (copy.upper, copy.rules, len(copy.products)) == ([5, 5, 25], ["one", "other"], 1)


@pytest.mark.parametrize("constant", [0, 3, -3])
def test_unbounded_sides_stay_unbounded(constant: int) -> None:
    row = Sum({0: 1}, constant) <= 0
    assert (row.low, row.high) == (-UNBOUNDED, -constant)
