"""HiGHS on two threads: a variable for each kind and host, or for each kind and bin of like hosts.

Bins of like hosts make a small model that allows a little more than fits. Each bin is then packed,
the largest runs first, each on the host with the most cores and memory for its free GPUs; what
doesn't go in, or was left over, goes wherever it fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import highspy
import numpy as np
from numpy.typing import NDArray

from tests.bench.plain import GPUS, MIB, MILLICORES, Ints, Problem, taken
from tests.bench.policies.answer import Answer, Task
from tests.bench.policies.counts import Bins, Counts, alike, counts_model, each_host, handed_out
from tests.bench.policies.exact import THREADS, AtLeast, Found, Question, by_tier
from tests.bench.policies.online import decreasing


def highs_hosts(task: Task) -> Answer:
    """Return what HiGHS finds in the time, host by host."""
    bins = each_host(task.problem)
    model = counts_model(task.problem, bins, levels=False)
    values, answer = by_tier(task, model, _solved)
    return replace(answer, placed=handed_out(task.problem, bins, model, values))


def highs(task: Task) -> Answer:
    """Return what HiGHS finds in the time, bin by bin, as far as it can be packed."""
    bins = alike(task.problem)
    model = counts_model(task.problem, bins, levels=True)
    values, answer = by_tier(task, model, _solved)
    placed = _packed(task.problem, bins, model, values)
    short = int(placed.sum(1) @ task.problem.weights) < int(values @ model.weight)
    return replace(
        answer, placed=placed, status=answer.status + (", not all packed" if short else "")
    )


def _solved(asked: Question) -> Found:
    solver = highspy.Highs()  # type: ignore[no-untyped-call]  # its stubs leave it out
    solver.silent()
    for option, value in (
        ("time_limit", asked.seconds),
        ("threads", THREADS),
        ("mip_rel_gap", asked.gap),
    ):
        solver.setOptionValue(option, value)
    solver.passModel(_program(asked.counts, asked.objective, asked.kept))
    if asked.start is not None:
        known = highspy.HighsSolution()
        known.col_value = asked.start.astype(float).tolist()
        solver.setSolution(known)
    solver.run()
    told = solver.getInfo()
    status = solver.getModelStatus()
    values = None
    if told.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        values = np.rint(np.array(solver.getSolution().col_value)).astype(np.int64)
    optimal = status == highspy.HighsModelStatus.kOptimal
    name = "OPTIMAL" if optimal else "UNKNOWN" if values is None else "FEASIBLE"
    return Found(values, told.mip_dual_bound, name)


def _program(counts: Counts, objective: Ints, kept: Sequence[AtLeast]) -> highspy.HighsLp:
    rows = len(counts.at_most) + len(kept)
    used = [np.flatnonzero(each.weights) for each in kept]
    entries = [counts.entry, *(each.weights[some] for each, some in zip(kept, used, strict=True))]
    ends = np.searchsorted(counts.row, np.arange(len(counts.at_most) + 1))
    starts = np.concatenate([ends, len(counts.row) + np.cumsum([len(some) for some in used])])
    program = highspy.HighsLp()
    program.num_col_ = len(objective)
    program.num_row_ = rows
    program.sense_ = highspy.ObjSense.kMaximize
    program.col_cost_ = objective.astype(float)
    program.col_lower_ = np.zeros(len(objective))
    program.col_upper_ = counts.upper.astype(float)
    least = np.array([each.least for each in kept], float)
    program.row_lower_ = np.concatenate([np.full(len(counts.at_most), -np.inf), least])
    program.row_upper_ = np.concatenate([counts.at_most.astype(float), np.full(len(kept), np.inf)])
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = starts.astype(np.int32)
    program.a_matrix_.index_ = np.concatenate([counts.column, *used]).astype(np.int32)
    program.a_matrix_.value_ = np.concatenate(entries).astype(float)
    program.integrality_ = [highspy.HighsVarType.kInteger] * len(objective)
    return program


def _packed(problem: Problem, bins: Bins, model: Counts, values: Ints) -> Ints:
    """Return the answer: the runs of each bin on its hosts, then every other run that fits."""
    answer, room = problem.nothing(), problem.room.copy()

    def place(kinds: Iterable[int], hosts: Ints) -> None:
        for kind in kinds:
            fits = (problem.asks[kind] <= room[hosts]).all(1)
            fits &= problem.accepts[kind, problem.trait[hosts]]
            if fits.any():
                host = hosts[np.where(fits, _ease(problem, room[hosts]), -1).argmax()]
                room[host] = taken(room[host], problem.asks[kind])
                answer[kind, host] += 1

    for number, hosts in enumerate(bins.members):
        inside = np.flatnonzero((model.bin == number) & (values > 0))
        runs = np.repeat(model.kind[inside], values[inside]).tolist()
        place(sorted(runs, key=lambda kind: (-problem.asks[kind]).tolist()), hosts)
    left = np.repeat(np.arange(len(problem.kinds)), problem.counts - answer.sum(1))
    place(decreasing(problem, left.tolist()), np.arange(len(room)))
    return answer


def _ease(problem: Problem, room: Ints) -> NDArray[np.float64]:
    """Return how much of what runs short first, cores or memory, is left for each free GPU."""
    shares = room[:, [MILLICORES, MIB]] / problem.room[:, [MILLICORES, MIB]].sum(0)
    ease: NDArray[np.float64] = shares.min(1) / np.maximum(room[:, GPUS], 0.5)
    return ease
