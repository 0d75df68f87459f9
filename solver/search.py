"""CP-SAT: one objective over the program, from a complete hint, within deterministic limits."""

from __future__ import annotations

import importlib.metadata
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

# The module beneath ortools.sat.python.cp_model: the same protos and solver, without the second
# that importing pandas takes. OR-Tools is pinned to its minor version for this.
from ortools.sat.python import cp_model_helper as cp_sat

from stowplan.model.errors import InternalError
from stowplan.model.reasons import Figure
from stowplan.solver.interrupt import Interrupt
from stowplan.solver.linear import Program, Row, Sum

NEARLY = 0.8
"""CP-SAT looks at its limits now and then: it may stop a little short of one."""
VERSION = f"ortools {importlib.metadata.version('ortools')}"

DETERMINISTIC_PER_SECOND = 0.3
"""Deterministic time that a slow core does in a second: wall time stays the last guard only."""

PARAMETERS: Mapping[str, Figure] = {
    "linearization_level": 2,
    "symmetry_level": 0,
    "cp_model_probing_level": 0,
}
"""What made one LP-led worker faster than the default portfolio (see docs/concepts/cycle.md)."""


Cut = Literal["deterministic_time", "wall_time", "interrupted"]


@dataclass(frozen=True)
class Limits:
    """When a search stops."""

    deterministic: float
    """CP-SAT's deterministic time: the same work on every machine."""
    wall_s: float
    """The last guard only."""
    gap: float
    workers: int
    seed: int


@dataclass(frozen=True)
class Found:
    """What a search came to."""

    values: list[int]
    status: Literal["OPTIMAL", "FEASIBLE"]
    objective: int
    bound: int
    wall_s: float
    deterministic: float
    cut: Cut | None
    """What ended the search before its proof."""
    log: str


@dataclass(frozen=True)
class Goal:
    """An objective, and which way is better."""

    terms: Sum
    maximise: bool


def search(
    program: Program,
    goal: Goal,
    hint: Sequence[int],
    limits: Limits,
    *,
    trivial: int,
    fixed: Mapping[int, int] | None = None,
    also: Sequence[Row] = (),
    interrupt: Interrupt | None = None,
) -> Found:
    """Return the best values found for a goal; never worse than the hint.

    The hint has a value for every variable and keeps every row. `trivial` is a bound that is
    known without search; `fixed` variables keep their value; the rows in `also` hold beside the
    program's own. Raises InternalError where CP-SAT calls the model invalid or infeasible: the
    hint shows that it isn't.
    """
    interrupt = interrupt or Interrupt()
    model = _encoded(program, goal, hint, fixed or {}, also)
    parameters = cp_sat.SatParameters()
    for name, value in PARAMETERS.items():
        setattr(parameters, name, value)
    parameters.num_workers = limits.workers
    parameters.random_seed = limits.seed
    parameters.relative_gap_limit = limits.gap
    parameters.max_deterministic_time = limits.deterministic
    parameters.max_time_in_seconds = max(0.01, limits.wall_s)
    parameters.interleave_search = limits.workers > 1  # else several workers race
    parameters.catch_sigint_signal = False  # ours is heeded
    parameters.log_search_progress = True
    parameters.log_to_stdout = False
    lines: list[str] = []
    solver = cp_sat.SolveWrapper()
    solver.set_parameters(parameters)
    solver.add_log_callback(lines.append)
    began = time.monotonic()
    responses: list[cp_sat.CpSolverResponse] = []

    def work() -> None:
        responses.append(solver.solve(model))  # type: ignore[no-untyped-call]  # C++, no stub

    interrupt.while_running(work, solver.stop_search)
    if not responses:
        raise InternalError("CP-SAT gave no answer")
    (response,) = responses
    wall = time.monotonic() - began
    if response.status in (cp_sat.MODEL_INVALID, cp_sat.INFEASIBLE):
        raise InternalError(
            f"CP-SAT says {response.status.name} of a model that has a known answer: "
            f"{cp_sat.CpSatHelper.validate_model(model) or 'the hint keeps every row'}"
        )
    known = goal.terms.at(hint)
    sign = 1 if goal.maximise else -1
    values, objective = list(hint), known
    bound = trivial
    if response.status in (cp_sat.OPTIMAL, cp_sat.FEASIBLE):
        found = list(response.solution)
        proved = _whole(response.best_objective_bound, goal.maximise)
        bound = min(trivial, proved) if goal.maximise else max(trivial, proved)
        if sign * (goal.terms.at(found) - known) >= 0:
            values, objective = found, goal.terms.at(found)
    proven = abs(bound - objective) <= limits.gap * max(1, abs(objective))
    return Found(
        values=values,
        status="OPTIMAL" if proven else "FEASIBLE",
        objective=objective,
        bound=bound,
        wall_s=wall,
        deterministic=response.deterministic_time,
        cut=None if proven else _cut(response.deterministic_time, limits, interrupt),
        log="\n".join(lines),
    )


def _cut(deterministic: float, limits: Limits, interrupt: Interrupt) -> Cut:
    """Return what ended a search."""
    if interrupt.asked:
        return "interrupted"
    if deterministic >= NEARLY * limits.deterministic:
        return "deterministic_time"
    return "wall_time"


def _whole(bound: float, maximise: bool) -> int:
    """Round a bound to the whole number that it implies."""
    if maximise:
        return int(bound + 1e-6) if bound >= 0 else -int(-bound + 1 - 1e-6)
    return -int(-bound + 1e-6) if bound < 0 else int(bound + 1 - 1e-6)


def _encoded(
    program: Program,
    goal: Goal,
    hint: Sequence[int],
    fixed: Mapping[int, int],
    also: Sequence[Row],
) -> cp_sat.CpModelProto:
    proto = cp_sat.CpModelProto()
    for column, (low, high) in enumerate(zip(program.lower, program.upper, strict=True)):
        value = fixed.get(column)
        ends = (low, high) if value is None else (value, value)
        proto.variables.add().domain.extend(ends)
    for row in (*program.rows, *also):
        linear = proto.constraints.add().linear
        linear.vars.extend(row.terms.keys())
        linear.coeffs.extend(row.terms.values())
        linear.domain.extend((row.low, row.high))
    for product in program.products:
        constraint = proto.constraints.add().int_prod
        constraint.target.vars.append(product.target)
        constraint.target.coeffs.append(1)
        for factor in (product.left, product.right):
            expression = constraint.exprs.add()
            expression.vars.extend(factor.terms.keys())
            expression.coeffs.extend(factor.terms.values())
            expression.offset = factor.constant
    sign = -1 if goal.maximise else 1
    objective = proto.objective
    objective.vars.extend(goal.terms.terms.keys())
    objective.coeffs.extend(sign * value for value in goal.terms.terms.values())
    objective.offset = sign * goal.terms.constant
    objective.scaling_factor = sign
    proto.solution_hint.vars.extend(range(len(program.upper)))
    proto.solution_hint.values.extend(hint)
    return proto
