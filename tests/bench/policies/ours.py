"""Stowplan itself, on the snapshot, exactly as a user runs it."""

from __future__ import annotations

from collections import Counter

from stowplan.model.decision import Decision, PlacedRun
from stowplan.solver.cycle import solve
from stowplan.solver.settings import Settings
from tests.bench.plain import Ints, Problem
from tests.bench.policies.answer import Answer, Task

AT_ONCE_S = 0.01


def stowplan(task: Task) -> Answer:
    """Return the decision of one cycle."""
    return _decided(task, task.time_limit_s)


def stowplan_first(task: Task) -> Answer:
    """Return the decision of a cycle that may not search: the first one there is."""
    return _decided(task, AT_ONCE_S)


def _decided(task: Task, seconds: float) -> Answer:
    settings = Settings.of(task.snapshot, time_limit_s=seconds, gap=task.gap)
    decision = solve(task.snapshot, settings)
    account = decision.solver
    place = account.stages[0]
    placed = placed_by(decision, task.problem)
    weight = sum(task.problem.weight_by_tier(placed))
    assert place.objective == weight, f"stage place says {place.objective}, its runs weigh {weight}"
    return Answer(
        placed,
        bound=place.bound,
        status=place.status,
        place_s=place.wall_s,
        stages_s=sum(stage.wall_s for stage in account.stages),
        deterministic=sum(stage.deterministic for stage in account.stages),
        variables=account.model.variables,
        constraints=account.model.constraints,
    )


def placed_by(decision: Decision, problem: Problem) -> Ints:
    """Return how many runs of each kind a decision places on each host: kinds x hosts."""
    index = {host: number for number, host in enumerate(problem.hosts)}
    where = Counter(
        (problem.kind_of[outcome.run], index[outcome.workers[0].host])
        for outcome in decision.outcomes
        if isinstance(outcome, PlacedRun)
    )
    answer = problem.nothing()
    for (kind, host), count in where.items():
        answer[kind, host] = count
    return answer
