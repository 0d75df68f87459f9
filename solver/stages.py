"""The chain of objectives: place, at-risk GPUs, points, canonical order; each fixes those before.

What a stage decides is fixed for those after it by its decisions (which runs start), not by a row
"objective >= value": that keeps the search fast. Only the number of GPUs at risk, and the points
for the canonical order, stay as rows.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from stowplan.model.decision import Stage
from stowplan.solver import points
from stowplan.solver.choices import Choices
from stowplan.solver.greedy import filled, greedy
from stowplan.solver.linear import Row, Sum, total
from stowplan.solver.search import Found, Goal, Limits, search
from stowplan.solver.settings import Settings

SHARES: Mapping[str, float] = {"place": 0.55, "at_risk": 0.10, "points": 0.25, "canonical": 0.10}
"""How the time limit is divided; what a stage leaves goes to those after it."""
CANONICAL = 1 << 10


@dataclass
class Chain:
    """Values of the variables as the stages improve them, and the account of each stage."""

    choices: Choices
    settings: Settings
    values: list[int]
    stages: list[Stage] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)
    cut: str | None = None
    """The limit that ended a stage before its proof."""
    fixed: dict[int, int] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)
    allowance: float = 0.0

    def improve(self, name: str, goal: Goal, gap: float, allowance: float) -> Found:
        """Search for a better value of a goal, and take it."""
        guard = self.settings.time_limit_s - (time.monotonic() - self.began)
        limits = Limits(allowance, guard, gap, self.settings.workers, self.settings.seed)
        found = search(
            self.choices.program, goal, self.values, limits, fixed=self.fixed, also=self.rows
        )
        self.values = found.values
        self.logs.append(f"#### {name}\n{found.log}")
        if found.status == "FEASIBLE":
            self.cut = "wall_time" if found.cut_by_wall else "deterministic_time"
        return found


def solve_stages(choices: Choices, settings: Settings) -> Chain:
    """Return the chain after all its stages."""
    chain = Chain(choices, settings, greedy(choices))
    place(chain)
    spare_at_risk(chain)
    earn_points(chain)
    settle_ties(chain)
    return chain


def place(chain: Chain) -> None:
    """Place the most weight, tier after tier; one entry in the account for all tiers together."""
    choices = chain.choices
    tiers = sorted({each.ask.priority for each in choices.classes}, reverse=True)
    left = SHARES["place"] * chain.settings.time_limit_s
    total_objective = total_bound = 0
    wall = deterministic = 0.0
    proven = True
    for tier in tiers:
        goal = Goal(_weight(choices, tier), maximise=True)
        value, bound = goal.terms.at(chain.values), choices.program.range(goal.terms)[1]
        if value < bound:
            found = chain.improve(f"place, priority {tier}", goal, chain.settings.gap, left)
            choices.oldest_first(chain.values)
            chain.values = choices.program.completed(filled(choices, chain.values))
            left = max(0.01, left - found.deterministic)
            wall, deterministic = wall + found.wall_s, deterministic + found.deterministic
            value, bound = goal.terms.at(chain.values), found.bound
            proven = proven and found.status == "OPTIMAL"
        total_objective, total_bound = total_objective + value, total_bound + bound
        for each in choices.classes:
            if each.ask.priority == tier:
                _fix(chain, choices.starts(each))
    chain.allowance = left
    chain.stages.append(_stage("place", proven, total_objective, total_bound, wall, deterministic))


def spare_at_risk(chain: Chain) -> None:
    """Give out the fewest GPUs at risk."""
    goal = Goal(chain.choices.at_risk_taken(), maximise=False)
    _finish(chain, "at_risk", goal, gap=0)
    if goal.terms:
        chain.rows.append(goal.terms <= goal.terms.at(chain.values))


def earn_points(chain: Chain) -> None:
    """Earn the most points, over all placed workers."""
    before = len(chain.choices.program.upper)
    goal = Goal(points.objective(chain.choices), maximise=True)
    chain.values = chain.choices.program.completed(chain.values[:before])
    _finish(chain, "points", goal, gap=chain.settings.gap)
    if goal.terms:
        chain.rows.append(goal.terms >= goal.terms.at(chain.values))


def settle_ties(chain: Chain) -> None:
    """Let ties fall by a hash of run and host, so that equal inputs give equal answers."""
    choices = chain.choices
    ranks = total(
        choices.workers_on(each, host) * _rank(each.name, host.name)
        for each in choices.classes
        for host in choices.hosts_for(each)
    )
    _finish(chain, "canonical", Goal(ranks, maximise=False), gap=0)


def _finish(chain: Chain, name: str, goal: Goal, gap: float) -> None:
    chain.allowance += SHARES[name] * chain.settings.time_limit_s
    low, high = _reachable(chain, goal.terms)
    value, bound = goal.terms.at(chain.values), high if goal.maximise else low
    if value == bound:
        chain.stages.append(_stage(name, True, value, bound, 0.0, 0.0))
        return
    found = chain.improve(name, goal, gap, chain.allowance)
    chain.allowance = max(0.01, chain.allowance - found.deterministic)
    proven = found.status == "OPTIMAL"
    chain.stages.append(
        _stage(name, proven, found.objective, found.bound, found.wall_s, found.deterministic)
    )


def _reachable(chain: Chain, terms: Sum) -> tuple[int, int]:
    """Return the range of a sum, with the fixed variables as they are."""
    fixed = total(
        chain.fixed[column] * value if column in chain.fixed else Sum({column: value})
        for column, value in terms.terms.items()
    )
    return chain.choices.program.range(fixed + terms.constant)


def _fix(chain: Chain, terms: Sum) -> None:
    for column in terms.terms:
        chain.fixed[column] = chain.values[column]


def _weight(choices: Choices, tier: int) -> Sum:
    return total(
        choices.starting(each, index) * cohort.weight
        for each in choices.classes
        if each.ask.priority == tier
        for index, cohort in enumerate(each.cohorts)
    )


def _rank(run: str, host: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{run}\0{host}".encode()).digest()[:4]) % CANONICAL


def _stage(
    name: str, proven: bool, objective: int, bound: int, wall: float, deterministic: float
) -> Stage:
    gap = abs(bound - objective) / max(1, abs(bound))
    return Stage(
        name=name,
        status="OPTIMAL" if proven else "FEASIBLE",
        objective=objective,
        bound=bound,
        gap=round(gap, 6),
        wall_s=round(wall, 4),
        deterministic=round(deterministic, 6),
    )
