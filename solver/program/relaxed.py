"""The linear relaxation: a bound on a goal, proven in milliseconds, and the variables it uses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ortools.linear_solver.python import model_builder_helper as linear_solver

from stowplan.solver.program.linear import UNBOUNDED, Goal, Program, Row
from stowplan.solver.program.parts import Part, parts_of

ROUNDING = 1e-9
"""How far sums of floats may be off, for each unit of their value."""
DETERMINISTIC = 5.0
"""GLOP's deterministic time at most: what is solved here takes milliseconds. Where it stops, its
prices give a bound too."""


class Relaxed(NamedTuple):
    """The best of a goal where variables need not be whole."""

    bound: int
    """Rounded to the nearest value that whole variables can give."""
    amounts: Mapping[int, float]
    """What it takes of each variable that hangs together with the goal."""


def relaxed(
    program: Program,
    goal: Goal,
    values: Sequence[int],
    fixed: Mapping[int, int],
    trivial: int,
    also: Sequence[Row] = (),
) -> Relaxed:
    """Return the relaxation's bound, or the trivial one where that is better.

    `fixed` variables keep their value, which they have in `values` too; the rows in `also` hold
    beside the program's own.
    """
    bound = goal.terms.constant
    bound += sum(value * values[c] for c, value in goal.terms.terms.items() if c in fixed)
    amounts: dict[int, float] = {}
    for part in parts_of(program, goal, values, fixed, also):
        solver = _solved(part, goal.maximise)
        bound += _bound(part, solver.dual_values().tolist(), goal.maximise)
        if solver.has_solution():
            found = zip(part.columns, solver.variable_values().tolist(), strict=True)
            amounts.update(found)
    best = min(trivial, bound) if goal.maximise else max(trivial, bound)
    return Relaxed(best, amounts)


def _solved(part: Part, maximise: bool) -> linear_solver.ModelSolverHelper:
    """Solve with GLOP, OR-Tools' simplex method."""
    model = linear_solver.ModelBuilderHelper()
    for lower, upper in zip(part.lower, part.upper, strict=True):
        column = model.add_var()
        model.set_var_lower_bound(column, lower)
        model.set_var_upper_bound(column, upper)
        model.set_var_objective_coefficient(column, part.goal.get(column, 0))
    for row in part.rows:
        index = model.add_linear_constraint()
        model.set_constraint_lower_bound(index, -math.inf if row.low == -UNBOUNDED else row.low)
        model.set_constraint_upper_bound(index, math.inf if row.high == UNBOUNDED else row.high)
        for column, value in row.terms.items():
            model.add_term_to_constraint(index, column, value)
    model.set_maximize(maximise)
    solver = linear_solver.ModelSolverHelper("glop")
    solver.set_solver_specific_parameters(f"max_deterministic_time: {DETERMINISTIC}")
    solver.solve(model)
    return solver


def _bound(part: Part, prices: Sequence[float], maximise: bool) -> int:
    """Return the bound that prices of the rows prove (weak duality), whatever prices they are.

    Each row is worth its price times its end; each variable is worth what its value in the goal
    exceeds the prices of what it takes, times its upper or lower end.
    """
    sign = 1 if maximise else -1
    worth = {column: float(sign * value) for column, value in part.goal.items()}
    value, size = 0.0, 0.0
    for row, price in zip(part.rows, prices, strict=True):
        own = sign * price
        end = row.high if own > 0 else row.low
        if not own or abs(end) == UNBOUNDED:
            continue
        value += own * end
        size += abs(own * end)
        for column, taken in row.terms.items():
            worth[column] = worth.get(column, 0.0) - own * taken
    for column, own in worth.items():
        amount = own * (part.upper[column] if own > 0 else part.lower[column])
        value += amount
        size += abs(amount)
    step = math.gcd(*part.goal.values())
    return sign * step * math.floor((value + ROUNDING * size) / step)
