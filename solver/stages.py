"""The chain of objectives: place, at-risk GPUs, points, canonical order; each fixes those before.

Which runs start is decided by the first stage and fixed for those after it. How few GPUs at risk,
and how many points, stay as rows "no worse than this": the places may still change.
"""

from __future__ import annotations

import hashlib
import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from stowplan.model.decision import Stage
from stowplan.solver import neighbourhoods, points
from stowplan.solver.asks import RunClass
from stowplan.solver.bound import most_weight
from stowplan.solver.choices import Choices
from stowplan.solver.greedy import filled, greedy
from stowplan.solver.linear import Row, Sum, total
from stowplan.solver.search import DETERMINISTIC_PER_SECOND, Cut, Found, Goal, Limits, search
from stowplan.solver.settings import Settings

SHARES: Mapping[str, float] = {"place": 0.7, "at_risk": 0.1, "points": 0.12, "canonical": 0.08}
"""How the time limit is divided between the stages."""
SEARCHED_WHOLE = 600
"""Variables up to which the later stages search the whole model; past it, neighbourhoods."""
WHOLE_FIRST = 0.4
"""The share of a stage's time for the whole model, where it is large."""
CANONICAL = 1 << 10


@dataclass
class Chain:
    """Values of the variables as the stages improve them, and the account of each stage."""

    choices: Choices
    settings: Settings
    values: list[int]
    stages: list[Stage] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)
    cut: Cut | None = None
    """The limit that ended a stage before its proof."""
    fixed: dict[int, int] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    def limits(self, name: str, gap: float, spent: float = 0.0) -> Limits:
        """Return the limits of a stage that has spent some of its deterministic time."""
        settings = self.settings
        share = SHARES[name] * settings.time_limit_s * DETERMINISTIC_PER_SECOND
        guard = settings.time_limit_s - (time.monotonic() - self.began)
        return Limits(max(1e-3, share - spent), guard, gap, settings.workers, settings.seed)

    def improve(self, title: str, goal: Goal, limits: Limits, trivial: int) -> Found:
        """Search for a better value of a goal, and take it."""
        found = search(
            self.choices.program,
            goal,
            self.values,
            limits,
            trivial=trivial,
            fixed=self.fixed,
            also=self.rows,
        )
        self.values = found.values
        self.logs.append(f"#### {title}\n{found.log}")
        self.cut = found.cut or self.cut
        return found

    @property
    def free(self) -> int:
        """How many variables aren't fixed."""
        return len(self.values) - len(self.fixed)

    def is_over(self) -> bool:
        """Whether the wall time is spent, or the caller has stopped the search."""
        spent = time.monotonic() - self.began >= self.settings.time_limit_s
        return spent or self.cut == "interrupted"


def solve_stages(choices: Choices, settings: Settings) -> Chain:
    """Return the chain after all its stages."""
    chain = Chain(choices, settings, greedy(choices))
    place(chain)
    spare_at_risk(chain)
    earn_points(chain)
    settle_ties(chain)
    return chain


def place(chain: Chain) -> None:
    """Place the most weight, tier after tier; one entry in the account for all tiers together.

    In a small model a tier's weight is kept for those below by a row, so that among equal choices
    the one that leaves them most is found. In a large one the choice itself is kept: their weight
    is then the best beside it, which may be less than the best of all.
    """
    choices = chain.choices
    tiers = sorted({each.ask.priority for each in choices.classes}, reverse=True)
    exact = chain.free <= SEARCHED_WHOLE
    sum_of = _Tally("place")
    for tier in tiers:
        goal = Goal(_weight(choices, tier), maximise=True)
        above = [each for each in choices.classes if each.ask.priority > tier]
        gone = sum(each.ask.all_gpus * choices.starts(each).at(chain.values) for each in above)
        value, bound = goal.terms.at(chain.values), most_weight(choices, tier, 0 if exact else gone)
        if value < bound and chain.is_over():
            sum_of.proven = False
        elif value < bound:
            bound = _search_tier(chain, tier, goal, bound, sum_of)
            value = goal.terms.at(chain.values)
        sum_of.objective += value
        sum_of.bound += bound
        if exact and goal.terms:
            chain.rows.append(goal.terms >= value)
        elif not exact:
            _fix(chain, [each for each in choices.classes if each.ask.priority == tier])
    _fix(chain, choices.classes)
    chain.stages.append(sum_of.stage())


def _search_tier(chain: Chain, tier: int, goal: Goal, trivial: int, sum_of: _Tally) -> int:
    """Search the whole model, then neighbourhoods if that proves nothing; return the bound."""
    choices, gap = chain.choices, chain.settings.gap
    limits = chain.limits("place", gap, sum_of.deterministic)
    whole = limits.deterministic * (WHOLE_FIRST if chain.free > SEARCHED_WHOLE else 1)
    found = chain.improve(
        f"place, priority {tier}", goal, replace(limits, deterministic=whole), trivial
    )
    sum_of.spend(found)
    _make_room_for_more(chain)
    bound = found.bound
    if found.status == "FEASIBLE" and chain.free > SEARCHED_WHOLE:
        joining = [each for each in choices.classes if each.ask.priority == tier]
        rounds = int((limits.deterministic - found.deterministic) / neighbourhoods.EACH)
        steps = neighbourhoods.improved(choices, goal, chain.values, limits, chain.fixed, joining)
        for step in itertools.islice(steps, max(0, rounds)):
            chain.values = step.values
            chain.cut = "interrupted" if step.cut == "interrupted" else chain.cut
            sum_of.spend(step)
            if bound - goal.terms.at(chain.values) <= gap * bound or chain.is_over():
                break
        _make_room_for_more(chain)
    value = goal.terms.at(chain.values)
    sum_of.proven = sum_of.proven and bound - value <= gap * max(1, value)
    return bound


def _make_room_for_more(chain: Chain) -> None:
    """Start the oldest of each class, and every further run that still fits."""
    chain.choices.oldest_first(chain.values)
    chain.values = filled(chain.choices, chain.values)


def spare_at_risk(chain: Chain) -> None:
    """Give out the fewest GPUs at risk."""
    goal = Goal(chain.choices.at_risk_taken(), maximise=False)
    _finish(chain, "at_risk", goal, 0)
    if goal.terms:
        chain.rows.append(goal.terms <= goal.terms.at(chain.values))


def earn_points(chain: Chain) -> None:
    """Earn the most points, over all placed workers."""
    choices = chain.choices
    started = {each.name: choices.starts(each).at(chain.values) for each in choices.classes}
    goal = Goal(points.objective(choices), maximise=True)
    chain.values = choices.program.completed(chain.values)
    most = points.most(choices, started)
    if chain.free <= SEARCHED_WHOLE:
        _finish(chain, "points", goal, most)
    else:
        _by_neighbourhoods(chain, "points", goal, most)
    if goal.terms:
        chain.rows.append(goal.terms >= goal.terms.at(chain.values))


def settle_ties(chain: Chain) -> None:
    """Let ties fall by a hash of run and host, so that equal inputs give equal answers.

    In a large model ties stay as the search left them: that is as deterministic.
    """
    choices = chain.choices
    ranks = total(
        choices.workers_on(each, host) * _rank(each.name, host.name)
        for each in choices.classes
        for host in choices.hosts_for(each)
    )
    goal = Goal(ranks, maximise=False)
    if chain.free <= SEARCHED_WHOLE:
        _finish(chain, "canonical", goal, 0)
    else:
        value = goal.terms.at(chain.values)
        chain.stages.append(_Tally("canonical", value, 0, searched=False).stage())


def _finish(chain: Chain, name: str, goal: Goal, trivial: int) -> None:
    """Search the whole model for a goal's best, unless it is at a known bound already."""
    value = goal.terms.at(chain.values)
    tally = _Tally(name, value, trivial)
    if value != trivial and goal.terms and chain.is_over():
        tally.proven = False
    elif value != trivial and goal.terms:
        limits = chain.limits(name, 0 if name != "points" else chain.settings.gap)
        found = chain.improve(name, goal, limits, trivial)
        tally.add(found)
        tally.objective, tally.bound = found.objective, found.bound
    elif not goal.terms:
        tally.bound = value
    chain.stages.append(tally.stage())


def _by_neighbourhoods(chain: Chain, name: str, goal: Goal, trivial: int) -> None:
    """Improve a goal by neighbourhoods, for the stage's share of deterministic time."""
    tally = _Tally(name, goal.terms.at(chain.values), trivial)
    limits = chain.limits(name, chain.settings.gap)
    rounds = int(limits.deterministic / neighbourhoods.EACH)
    found = neighbourhoods.improved(chain.choices, goal, chain.values, limits, chain.fixed)
    for step in itertools.islice(found, rounds):
        chain.values = step.values
        tally.spend(step)
        chain.cut = "interrupted" if step.cut == "interrupted" else chain.cut
        if chain.is_over():
            chain.cut = chain.cut or "wall_time"
            break
    tally.objective = goal.terms.at(chain.values)
    tally.proven = tally.objective == trivial
    if not tally.proven:
        chain.cut = chain.cut or "deterministic_time"
    chain.stages.append(tally.stage())


@dataclass
class _Tally:
    """What a stage came to, over its searches."""

    name: str
    objective: int = 0
    bound: int = 0
    wall: float = 0.0
    deterministic: float = 0.0
    proven: bool = True
    searched: bool = True

    def add(self, found: Found) -> None:
        self.spend(found)
        self.proven = self.proven and found.status == "OPTIMAL"

    def spend(self, found: Found) -> None:
        self.wall += found.wall_s
        self.deterministic += found.deterministic

    def stage(self) -> Stage:
        gap = abs(self.bound - self.objective) / max(1, abs(self.bound), abs(self.objective))
        status: Literal["OPTIMAL", "FEASIBLE", "GREEDY"] = "FEASIBLE"
        if not self.searched:
            status = "GREEDY"
        elif self.proven:
            status = "OPTIMAL"
        return Stage(
            name=self.name,
            status=status,
            objective=self.objective,
            bound=self.bound,
            gap=round(gap, 6),
            wall_s=round(self.wall, 4),
            deterministic=round(self.deterministic, 6),
        )


def _fix(chain: Chain, classes: Sequence[RunClass]) -> None:
    """Keep how many runs of these classes start."""
    for each in classes:
        for column in chain.choices.starts(each).terms:
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
