"""CP-SAT with its default parameters on two threads, one variable for each kind and host."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from tests.bench.plain import Ints
from tests.bench.policies.answer import Answer, Task
from tests.bench.policies.counts import counts_model, each_host, handed_out
from tests.bench.policies.exact import THREADS, Found, Question, by_tier

type Columns = NDArray[np.object_]


def cpsat(task: Task) -> Answer:
    """Return what CP-SAT finds in the time."""
    bins = each_host(task.problem)
    model = counts_model(task.problem, bins, levels=False)
    values, answer = by_tier(task, model, _solved)
    return replace(answer, placed=handed_out(task.problem, bins, model, values))


def _solved(asked: Question) -> Found:
    counts, start = asked.counts, asked.start
    model = cp_model.CpModel()
    columns = np.array([model.new_int_var(0, most, "") for most in counts.upper.tolist()])
    ends = np.searchsorted(counts.row, np.arange(len(counts.at_most) + 1))
    for row, most in enumerate(counts.at_most.tolist()):
        inside = slice(ends[row], ends[row + 1])
        terms = columns[counts.column[inside]].tolist()
        model.add(cp_model.LinearExpr.weighted_sum(terms, counts.entry[inside].tolist()) <= most)
    for each in asked.kept:
        model.add(_sum(columns, each.weights) >= each.least)
    model.maximize(_sum(columns, asked.objective))
    for column, value in zip(columns, [] if start is None else start.tolist(), strict=False):
        model.add_hint(column, value)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = THREADS
    solver.parameters.max_time_in_seconds = asked.seconds
    solver.parameters.relative_gap_limit = asked.gap
    status = solver.solve(model)
    values = None
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        values = np.array([solver.value(column) for column in columns], np.int64)
    return Found(values, solver.best_objective_bound, solver.status_name(status))


def _sum(columns: Columns, weights: Ints) -> cp_model.LinearExprT:
    used = np.flatnonzero(weights)
    return cp_model.LinearExpr.weighted_sum(columns[used].tolist(), weights[used].tolist())
