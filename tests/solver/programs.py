"""Small programs, every answer of which can be tried."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from stowplan.solver.program.linear import Goal, Program, Row, Sum

small = st.integers(-4, 4)


@st.composite
def programs(draw: st.DrawFn, most: int = 4) -> Program:
    """A program of a few small variables, with rows of any kind."""
    program = Program()
    columns = range(draw(st.integers(1, most)))
    for _ in columns:
        low = draw(st.integers(-1, 1))
        program.variable(low + draw(st.integers(0, 3)), low)
    for index in range(draw(st.integers(0, 4))):
        inside = columns if most <= 4 else draw(st.sets(st.sampled_from(columns), max_size=3))
        terms = Sum({column: draw(small) for column in sorted(inside)}, draw(small)) + 0
        limit = draw(st.integers(-9, 9))
        kind = draw(st.sampled_from(("<=", ">=", "=")))
        row = terms.equals(limit) if kind == "=" else terms <= limit
        program.post(f"rule{index}", [terms >= limit if kind == ">=" else row])
    return program


@st.composite
def goals(draw: st.DrawFn, program: Program) -> Goal:
    """An objective over a program's variables."""
    coefficients = [draw(st.integers(-5, 5)) for _ in program.upper]
    terms = {column: value for column, value in enumerate(coefficients) if value}
    return Goal(Sum(terms, draw(st.integers(-3, 3))), draw(st.booleans()))


def answers_of(
    program: Program, fixed: Mapping[int, int] | None = None, also: Sequence[Row] = ()
) -> list[list[int]]:
    """Return every way to set the variables that keeps the rows and the products."""
    rows = [*program.rows, *also]
    targets = {product.target for product in program.products}
    ends = [
        range(1) if column in targets else range(low, high + 1)
        for column, (low, high) in enumerate(zip(program.lower, program.upper, strict=True))
    ]
    found = [program.completed(list(values)) for values in itertools.product(*ends)]
    return [
        values
        for values in found
        if all(row.low <= Sum(row.terms).at(values) <= row.high for row in rows)
        and all(values[column] == value for column, value in (fixed or {}).items())
    ]
