"""The chain of objectives: place, at-risk GPUs, points, canonical order; each fixes those before.

Which runs start is decided by the first stage and fixed for those after it. How few GPUs at risk,
and how many points, stay as rows "no worse than this": the places may still change.
"""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import replace

from stowplan.solver import neighbourhoods, points
from stowplan.solver.bound import most_weight
from stowplan.solver.chain import Chain, Tally, Watcher, unwatched
from stowplan.solver.choices import Choices
from stowplan.solver.greedy import filled, greedy
from stowplan.solver.interrupt import Interrupt
from stowplan.solver.linear import Sum, total
from stowplan.solver.search import Found, Goal
from stowplan.solver.settings import Settings

SEARCHED_WHOLE = 600
"""Variables up to which the later stages search the whole model; past it, neighbourhoods."""
WHOLE_FIRST = 0.4
"""The share of a stage's time for the whole model, where it is large."""
CANONICAL = 1 << 10


def solve_stages(
    choices: Choices, settings: Settings, interrupt: Interrupt, watcher: Watcher = unwatched
) -> Chain:
    """Return the chain after all its stages."""
    chain = Chain(choices, settings, greedy(choices), interrupt, watcher)
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
    sum_of = Tally("place")
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
            chain.fix([each for each in choices.classes if each.ask.priority == tier])
    chain.stages.append(sum_of.stage())


def _search_tier(chain: Chain, tier: int, goal: Goal, trivial: int, sum_of: Tally) -> int:
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
        steps = neighbourhoods.improved(
            choices, goal, chain.values, limits, chain.fixed, joining, chain.interrupt
        )
        for step in itertools.islice(steps, max(0, rounds)):
            _note(chain, f"place, priority {tier}", goal, step, bound)
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
    """Give out the fewest GPUs at risk; then it is settled which runs start.

    In a small model other runs of the same weight may start instead.
    """
    goal = Goal(chain.choices.at_risk_taken(), maximise=False)
    _finish(chain, "at_risk", goal, 0)
    chain.fix(chain.choices.classes)
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
        chain.stages.append(Tally("canonical", value, 0, searched=False).stage())


def _finish(chain: Chain, name: str, goal: Goal, trivial: int) -> None:
    """Search the whole model for a goal's best, unless it is at a known bound already."""
    value = goal.terms.at(chain.values)
    tally = Tally(name, value, trivial)
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
    tally = Tally(name, goal.terms.at(chain.values), trivial)
    limits = chain.limits(name, chain.settings.gap)
    rounds = int(limits.deterministic / neighbourhoods.EACH)
    found = neighbourhoods.improved(
        chain.choices, goal, chain.values, limits, chain.fixed, (), chain.interrupt
    )
    for step in itertools.islice(found, rounds):
        _note(chain, name, goal, step, trivial)
        tally.spend(step)
        if chain.is_over():
            break
    tally.objective = goal.terms.at(chain.values)
    tally.proven = tally.objective == trivial
    if not tally.proven:
        chain.cut = chain.cut or "deterministic_time"
    chain.stages.append(tally.stage())


def _note(chain: Chain, title: str, goal: Goal, step: Found, bound: int) -> None:
    """Go on from what a neighbourhood came to, with a line in the log."""
    value = goal.terms.at(step.values)
    chain.take(replace(step, objective=value, bound=bound), title)
    chain.logs.append(
        f"#### {title}, a neighbourhood: {value} in all, {step.status}, "
        f"{step.deterministic:.3f} deterministic, {step.wall_s:.3f} s"
    )


def _weight(choices: Choices, tier: int) -> Sum:
    return total(
        choices.starting(each, index) * cohort.weight
        for each in choices.classes
        if each.ask.priority == tier
        for index, cohort in enumerate(each.cohorts)
    )


def _rank(run: str, host: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{run}\0{host}".encode()).digest()[:4]) % CANONICAL
