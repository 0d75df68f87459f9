"""The one reason why a run waits: the first of these that is true.

One and the same reason that isn't room on every host; a shared limit that is used up (quota,
array); the queue, where there is room; the room went to runs placed in this cycle; too little
room, with the closest host; else the reasons of the host that would take the least loosening.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from stowplan.model.reasons import Code, Figure, Reason
from stowplan.model.runs import Run
from stowplan.solver.asks import Ask, RunClass
from stowplan.solver.explain.rivals import outcompeted
from stowplan.solver.explain.waiting import Verdict, Why
from stowplan.solver.situation import Situation

NEVER_LOOSENED = 10_000
MORE_HARDWARE = 60
"""What it costs to add to a machine, beside the costs of rules."""


@dataclass(frozen=True)
class Headline:
    """Why the runs of a class wait: worked out once, but for each run's place in a strict queue."""

    situation: Situation
    each: RunClass
    why: Why

    def of(self, run: Run) -> Reason:
        """Return the one reason why a run of the class waits."""
        return self._limit or _behind(self.situation, self.each, run) or self._room

    @cached_property
    def _limit(self) -> Reason | None:
        """What comes before the queue: every host says the same, or a shared limit is used up."""
        return (
            _no_hosts(self.each.ask, self.why)
            or _same_everywhere(self.why)
            or _over_quota(self.situation, self.each)
            or _array_is_full(self.situation, self.each)
        )

    @cached_property
    def _room(self) -> Reason:
        """What comes after the queue: who took the room, or which is closest to having it."""
        return (
            outcompeted(self.situation, self.each)
            or _too_little_room(self.situation, self.each.ask, self.why)
            or _least_to_loosen(self.each.ask, self.why)
        )


def _no_hosts(ask: Ask, why: Why) -> Reason | None:
    if why.verdicts:
        return None
    code = Code.INSUFFICIENT_GPUS if ask.gpus else Code.INSUFFICIENT_CPU
    return Reason.of(code, "the fleet has no machines", hosts=0)


def _same_everywhere(why: Why) -> Reason | None:
    """One and the same reason that isn't room, on every host."""
    if not why.verdicts:
        return None
    everywhere = set.intersection(*({f.reason.code for f in v.empty} for v in why.verdicts))
    for failing in why.verdicts[0].empty:
        if failing.reason.code in everywhere:
            code = failing.reason.code
            reasons = [
                next(f.reason for f in verdict.empty if f.reason.code == code)
                for verdict in why.verdicts
            ]
            return _summed_up(reasons, [verdict.host.name for verdict in why.verdicts])
    return None


def _summed_up(reasons: Sequence[Reason], hosts: Sequence[str]) -> Reason:
    """Return one reason for all hosts: that of the one that lacks least, with its numbers."""
    best = min(range(len(reasons)), key=lambda index: (_shortfall(reasons[index]), hosts[index]))
    reason = reasons[best]
    if len(reasons) == 1:
        where = hosts[best]
    elif all(other.message == reason.message for other in reasons):
        where = f"on all {len(reasons)} machines"
    else:
        where = f"on all {len(reasons)} machines; the nearest, {hosts[best]}"
    return _said(reason, f"{where}: {reason.message}")


def _said(reason: Reason, message: str, **more: Figure) -> Reason:
    """Return the reason in other words, with more numbers."""
    return reason.model_copy(update={"message": message, "numbers": {**reason.numbers, **more}})


def _shortfall(reason: Reason) -> float:
    need = reason.numbers.get("need", reason.numbers.get("need_bytes"))
    have = reason.numbers.get(
        "whole", reason.numbers.get("whole_bytes", reason.numbers.get("free"))
    )
    return need - have if isinstance(need, int | float) and isinstance(have, int | float) else 0


def _over_quota(situation: Situation, each: RunClass) -> Reason | None:
    workspace = situation.snapshot.workspaces[each.ask.workspace]
    quota, need = workspace.gpu_quota, each.ask.all_gpus
    if quota is None or not need:
        return None
    held = quota - situation.choices.quota_left[workspace.name]
    placed = situation.gpus_placed(workspace.name)
    if held + placed + need <= quota:
        return None
    message = (
        f"needs {need} GPUs, and {max(0, quota - held - placed)} of workspace {workspace.name}'s "
        f"quota of {quota} are left ({held} held, {placed} placed in this cycle)"
    )
    terms = workspace.terms.quota if workspace.terms else None
    return Reason.of(
        Code.QUOTA_EXCEEDED,
        f"{message}; {terms}" if terms else message,
        need=need,
        quota=quota,
        held=held,
        placed=placed,
    )


def _array_is_full(situation: Situation, each: RunClass) -> Reason | None:
    array = each.runs[0].array
    if array is None or array.max_parallel is None:
        return None
    started = situation.started[each.name]
    running = array.max_parallel - situation.choices.parallel_left[each.name]
    if running + started < array.max_parallel:
        return None
    return Reason.of(
        Code.ARRAY_LIMIT,
        f"runs {running + started} elements at once, as many as max_parallel allows",
        max_parallel=array.max_parallel,
        running=running,
        placed=started,
    )


def _behind(situation: Situation, each: RunClass, run: Run) -> Reason | None:
    """Held by a strict queue although there is room."""
    ahead = _first_ahead(situation, each, run)
    if ahead is None or not situation.eligibility.fits(each.ask, situation.room_left):
        return None
    return Reason.of(
        Code.QUEUED_BEHIND,
        f"there is room, but '{ahead}' is ahead of it in {each.ask.workspace}'s queue and waits",
        behind=ahead,
        workspace=each.ask.workspace,
    )


def _first_ahead(situation: Situation, each: RunClass, run: Run) -> str | None:
    """Return the run that holds a run back in its strict queue, the first in line."""
    for cohort in situation.choices.lines.get(each.ask.workspace, ()):
        first = cohort.runs[0]
        if first.name == run.name:
            return None
        if situation.choices.holds_up(cohort) and not situation.has_started(first.name):
            return first.name
    return None


def _too_little_room(situation: Situation, ask: Ask, why: Why) -> Reason | None:
    if (ask.tasks or 0) > 1 and any(not verdict.empty for verdict in why.verdicts):
        return _too_few_places(situation, ask, why)
    best = why.closest
    if best is None:
        return None
    if not best.now:
        return Reason.of(Code.SOLVER_LIMIT, "fits, and was not placed in the time given")
    reason = best.now[0].reason
    message = f"the closest, {best.host.name}: {reason.message}"
    return _said(reason, message, closest=best.host.name)


def _too_few_places(situation: Situation, ask: Ask, why: Why) -> Reason:
    """Return the reason of a run whose workers don't all fit at once."""
    tasks = ask.tasks or 0
    takers = sum(not verdict.empty for verdict in why.verdicts)
    if not ask.may_share and takers < tasks:
        return Reason.of(
            Code.SPREAD_CONFLICT,
            f"needs {tasks} different machines, and only {takers} could ever take a worker",
            workers=tasks,
            machines=takers,
        )
    fit = situation.eligibility.workers_that_fit(ask, situation.room_left)
    if why.closest is None:
        most = situation.eligibility.workers_that_fit(ask, lambda host: host.empty)
        code = Code.INSUFFICIENT_CPU if ask.millicores else Code.INSUFFICIENT_MEMORY
        message = f"needs room for {tasks} workers at once; the empty machines hold {most}"
        return Reason.of(code, message, workers=tasks, fit=fit, most=most)
    short = why.closest.now[0].reason if why.closest.now else None
    detail = f"; the closest, {why.closest.host.name}: {short.message}" if short else ""
    return Reason.of(
        short.code if short else Code.INSUFFICIENT_CPU,
        f"needs room for {tasks} workers at once, and {fit} fit{detail}",
        workers=tasks,
        fit=fit,
        closest=why.closest.host.name,
    )


def _least_to_loosen(ask: Ask, why: Why) -> Reason:
    """Return the first reason of the host that would take the least loosening."""

    def cost(verdict: Verdict) -> tuple[int, str]:
        failing = {each.rule.name: each.rule.cost for each in verdict.empty}
        if ask.gpus > len(verdict.host.empty.devices):
            failing["room"] = MORE_HARDWARE
        costs = (NEVER_LOOSENED if each is None else each for each in failing.values())
        return (sum(costs), verdict.host.name)

    best = min(why.verdicts, key=cost)
    reason = best.empty[0].reason
    others = len(why.verdicts) - 1
    rest = f" ({others} more won't do either)" if others else ""
    return _said(reason, f"the nearest, {best.host.name}: {reason.message}{rest}")
