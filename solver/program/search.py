"""CP-SAT: one objective over the program, from a complete hint, within deterministic limits."""

from __future__ import annotations

import importlib.metadata
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

# The module beneath ortools.sat.python.cp_model: the same protos and solver, without the second
# that importing pandas takes. OR-Tools is pinned to its minor version for this.
from ortools.sat.python import cp_model_helper as cp_sat

from stowplan.model.errors import InternalError
from stowplan.model.reasons import Figure
from stowplan.solver.interrupt import Interrupt
from stowplan.solver.program.linear import Goal, Program, Row
from stowplan.solver.program.parts import Part, parts_of

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
    program's own. Parts that share no row are searched one by one. Raises InternalError where
    CP-SAT calls the model invalid or infeasible: the hint shows that it isn't.
    """
    began = time.monotonic()
    interrupt = interrupt or Interrupt()
    parts = parts_of(program, goal, hint, fixed or {}, also)
    size = sum(len(part.columns) for part in parts)
    values, bound, deterministic, logs = list(hint), goal.terms.constant, 0.0, []
    bound += sum(value * hint[c] for c, value in goal.terms.terms.items() if c in (fixed or {}))
    for part in parts:
        share = len(part.columns) / size
        wall = limits.wall_s - (time.monotonic() - began)
        own = replace(limits, deterministic=limits.deterministic * share, wall_s=wall)
        answer = _answer(part, goal.maximise, own, interrupt)
        for column, value in zip(part.columns, answer.values, strict=True):
            values[column] = value
        bound += answer.bound
        deterministic += answer.deterministic
        logs.append(answer.log)
    bound = min(trivial, bound) if goal.maximise else max(trivial, bound)
    objective = goal.terms.at(values)
    proven = abs(bound - objective) <= limits.gap * max(1, abs(objective))
    return Found(
        values=values,
        status="OPTIMAL" if proven else "FEASIBLE",
        objective=objective,
        bound=bound,
        wall_s=time.monotonic() - began,
        deterministic=deterministic,
        cut=None if proven else _cut(deterministic, limits, interrupt),
        log="\n".join(logs),
    )


class _Answer(NamedTuple):
    values: list[int]
    bound: int
    """On the part's own terms of the goal."""
    deterministic: float
    log: str


def _answer(part: Part, maximise: bool, limits: Limits, interrupt: Interrupt) -> _Answer:
    """Return what CP-SAT finds for one part: its hint, where that is as good."""
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
    model = _encoded(part, maximise)
    responses: list[cp_sat.CpSolverResponse] = []

    def work() -> None:
        responses.append(solver.solve(model))  # type: ignore[no-untyped-call]  # C++, no stub

    interrupt.while_running(work, solver.stop_search)
    if not responses:
        raise InternalError("CP-SAT gave no answer")
    (response,) = responses
    if response.status in (cp_sat.MODEL_INVALID, cp_sat.INFEASIBLE):
        raise InternalError(
            f"CP-SAT says {response.status.name} of a model that has a known answer: "
            f"{cp_sat.CpSatHelper.validate_model(model) or 'the hint keeps every row'}"
        )
    values, known = part.hint, part.value(part.hint)
    low, high = part.range()
    bound = high if maximise else low
    if response.status in (cp_sat.OPTIMAL, cp_sat.FEASIBLE):
        proved = whole_bound(response.best_objective_bound, maximise)
        bound = min(bound, proved) if maximise else max(bound, proved)
        found = list(response.solution)
        if (part.value(found) - known) * (1 if maximise else -1) >= 0:
            values = found
    return _Answer(values, bound, response.deterministic_time, "\n".join(lines))


def _cut(deterministic: float, limits: Limits, interrupt: Interrupt) -> Cut:
    """Return what ended a search."""
    if interrupt.asked:
        return "interrupted"
    if deterministic >= NEARLY * limits.deterministic:
        return "deterministic_time"
    return "wall_time"


def whole_bound(bound: float, maximise: bool) -> int:
    """Round a bound to the whole number that it implies."""
    if maximise:
        return int(bound + 1e-6) if bound >= 0 else -int(-bound + 1 - 1e-6)
    return -int(-bound + 1e-6) if bound < 0 else int(bound + 1 - 1e-6)


def _encoded(part: Part, maximise: bool) -> cp_sat.CpModelProto:
    proto = cp_sat.CpModelProto()
    for ends in zip(part.lower, part.upper, strict=True):
        proto.variables.add().domain.extend(ends)
    for row in part.rows:
        linear = proto.constraints.add().linear
        linear.vars.extend(row.terms.keys())
        linear.coeffs.extend(row.terms.values())
        linear.domain.extend((row.low, row.high))
    for product in part.products:
        constraint = proto.constraints.add().int_prod
        constraint.target.vars.append(product.target)
        constraint.target.coeffs.append(1)
        for factor in (product.left, product.right):
            expression = constraint.exprs.add()
            expression.vars.extend(factor.terms.keys())
            expression.coeffs.extend(factor.terms.values())
            expression.offset = factor.constant
    sign = -1 if maximise else 1
    objective = proto.objective
    objective.vars.extend(part.goal.keys())
    objective.coeffs.extend(sign * value for value in part.goal.values())
    objective.scaling_factor = sign
    proto.solution_hint.vars.extend(range(len(part.columns)))
    proto.solution_hint.values.extend(part.hint)
    return proto
