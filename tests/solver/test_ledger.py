from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stowplan.solver.ledger import Ledger
from stowplan.solver.linear import Program, Sum
from tests.solver.test_linear import programs
from tests.strategies import examples


def _rows_hold(program: Program, values: list[int]) -> bool:
    return all(
        low <= value <= high
        for low, value, high in zip(program.lower, values, program.upper, strict=True)
    ) and all(row.low <= Sum(row.terms).at(values) <= row.high for row in program.rows)


@examples(100)
@given(st.data())
def test_a_move_can_be_made_exactly_as_often_as_the_rows_allow(data: st.DataObject) -> None:
    program = data.draw(programs())
    ends = zip(program.lower, program.upper, strict=True)
    start = [data.draw(st.integers(low, high)) for low, high in ends]
    if not _rows_hold(program, start):
        return
    columns = st.sampled_from(range(len(start)))
    move = data.draw(st.dictionaries(columns, st.integers(1, 2), min_size=1))
    watched = Sum({0: 2, len(start) - 1: 3}, 1)
    ledger = Ledger(program, list(start), {"watched": watched})
    times = ledger.times(move, 3)
    for often in range(4):
        values = [value + often * move.get(column, 0) for column, value in enumerate(start)]
        assert _rows_hold(program, values) == (often <= times)
    ledger.make(move, times)
    assert ledger.times(move, 3 - times) == 0
    assert ledger.totals == {"watched": watched.at(ledger.values)}


def test_a_move_that_loosens_a_row_is_bounded_by_the_others_only() -> None:
    program = Program()
    x, y = program.variable(9), program.variable(9)
    program.post("apart", [x - y <= 2])
    ledger = Ledger(program, [2, 0], {})
    assert ledger.times({0: 1}, 5) == 0
    assert ledger.times({1: 1}, 20) == 9
    assert ledger.times({0: 2, 1: 1}, 5) == 0
    ledger.make({1: 1}, 4)
    assert ledger.values == [2, 4]
    assert ledger.times({0: 1}, 9) == 4
