"""Why a run waits: one headline, the counts, the closest host, and every host's own reasons.

The headline is the first of these that is true: one and the same reason that isn't room on every
host; a shared limit that is used up (quota, array); the queue, where there is room; the room went
to runs placed in this cycle; too little room, with the closest host; else the reasons of the host
that would take the least loosening.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stowplan.model.decision import HostRow
from stowplan.model.holds import holding
from stowplan.model.reasons import Code, Figure, Reason
from stowplan.model.room import Room
from stowplan.model.runs import Run
from stowplan.solver.asks import Ask, RunClass, queue_order
from stowplan.solver.eligibility import Failing
from stowplan.solver.hosts import Host
from stowplan.solver.situation import Situation, given_back

NEVER_LOOSENED = 10_000
MORE_HARDWARE = 60
"""What it costs to add to a machine, beside the costs of rules."""
READY = {"state", "freshness", "pressure", "accepting", "reserved_for"}
"""The rules of the first two filters."""
NAMED = 3
"""How many runs a sentence names before it says how many more there are."""


@dataclass(frozen=True)
class Verdict:
    """What one host says of a worker that waits."""

    host: Host
    now: tuple[Failing, ...]
    """What fails with the room that the cycle leaves."""
    empty: tuple[Failing, ...]
    """What would fail if the host were empty."""


@dataclass(frozen=True)
class Why:
    """Why the runs of a class wait, but for their place in line."""

    verdicts: tuple[Verdict, ...]
    rows: tuple[HostRow, ...]
    closest: str | None
    ready: int
    down: int


def examined(situation: Situation, each: RunClass) -> Why:
    """Return what every listed host says of a class that waits."""
    eligibility = situation.eligibility
    verdicts = tuple(
        Verdict(
            host,
            eligibility.failing(each.ask, host, situation.room_left(host)),
            eligibility.failing(each.ask, host, host.empty),
        )
        for host in eligibility.listed(each.ask)
    )
    close = closest(situation, each.ask, verdicts)
    return Why(
        verdicts,
        _rows(verdicts),
        close.host.name if close else None,
        ready=sum(_is_ready(verdict) for verdict in verdicts),
        down=sum(verdict.host.machine.state == "down" for verdict in verdicts),
    )


def _is_ready(verdict: Verdict) -> bool:
    """Whether a host passes the first two filters: up, fresh, and taking this work."""
    return READY.isdisjoint(failing.rule.name for failing in verdict.empty)


def _rows(verdicts: Iterable[Verdict]) -> tuple[HostRow, ...]:
    fits = (Reason.of(Code.OK, "has room for one of its workers"),)
    alike: dict[tuple[str, str], tuple[list[str], tuple[Reason, ...]]] = {}
    for verdict in verdicts:
        reasons = tuple(failing.reason for failing in verdict.now) or fits
        state = verdict.host.machine.state
        key = (state, repr([(each.code, sorted(each.numbers.items())) for each in reasons]))
        alike.setdefault(key, ([], reasons))[0].append(verdict.host.name)
    return tuple(
        HostRow(hosts=tuple(names), state=key[0], reasons=reasons)
        for key, (names, reasons) in alike.items()
    )


def closest(situation: Situation, ask: Ask, verdicts: Sequence[Verdict]) -> Verdict | None:
    """Return the host that is short of room only, and of the least; None where there is none."""
    takers = [verdict for verdict in verdicts if not verdict.empty]
    return min(takers, key=lambda each: _lack(situation, ask, each), default=None)


def _lack(situation: Situation, ask: Ask, verdict: Verdict) -> tuple[int, float, str]:
    room = situation.room_left(verdict.host)
    numbers = {key: value for each in verdict.now for key, value in each.reason.numbers.items()}
    free = numbers.get("free", numbers.get("healthy_free", 0))
    gpus = ask.gpus - int(free) if _short_of_gpus(verdict) and isinstance(free, int) else 0
    cores = max(0, ask.millicores - max(0, room.millicores)) / max(1, ask.millicores)
    memory = max(0, ask.memory_bytes - max(0, room.memory_bytes)) / max(1, ask.memory_bytes)
    return (gpus, cores + memory, verdict.host.name)


def _short_of_gpus(verdict: Verdict) -> bool:
    return any(each.rule.name in ("room", "healthy_only", "pinned_ids") for each in verdict.now)


def headline(situation: Situation, each: RunClass, run: Run, why: Why) -> Reason:
    """Return the one reason why a run waits."""
    return (
        _no_hosts(each.ask, why)
        or _same_everywhere(why)
        or _over_quota(situation, each)
        or _array_is_full(situation, each)
        or _behind(situation, each, run)
        or _outcompeted(situation, each)
        or _too_little_room(situation, each.ask, why)
        or _least_to_loosen(each.ask, why)
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
    if situation.snapshot.policy.queue != "strict":
        return None
    snapshot = situation.snapshot
    running = {holder.name for holder, _ in holding(snapshot)}
    own = queue_order(run, snapshot)
    waiting = sorted(
        queue_order(other, snapshot)
        for rival in situation.choices.classes
        if rival.ask.workspace == each.ask.workspace and situation.choices.could_ever_start(rival)
        for other in rival.runs
        if other.name not in running and not situation.has_started(rival, other.name)
    )
    return waiting[0][-1] if waiting and waiting[0] < own else None


def _outcompeted(situation: Situation, each: RunClass) -> Reason | None:
    """It fits alone: the room went to runs placed in this cycle, or nothing is proven."""
    own = situation.room_beside_own(each)
    if not situation.eligibility.fits(each.ask, lambda host: own[host.name]):
        return None
    rivals = _rivals(situation, each.ask)
    if not situation.proven or not rivals:
        message = "fits alone, and the time given wasn't enough to prove that it must wait"
        return Reason.of(Code.SOLVER_LIMIT, message)
    return Reason.of(
        Code.OUTCOMPETED,
        f"fits alone; the room went to {_named(rivals)}",
        runs=tuple(rivals),
    )


def _rivals(situation: Situation, ask: Ask) -> list[str]:
    """Return a smallest set found of runs placed in this cycle without which it would fit.

    Hosts are freed one by one, those first where the fewest runs must go.
    """
    eligibility = situation.eligibility
    rooms = dict(situation.left)
    ways: list[tuple[int, str, list[str], Room]] = []
    for host in eligibility.listed(ask):
        before = eligibility.slots(ask, host, rooms[host.name])
        want = min(ask.tasks or 0, eligibility.slots(ask, host, host.start))
        want = want if ask.may_share else min(want, 1)
        if before >= want:
            continue
        gone, room = _displaced(situation, ask, host, want)
        ways.append((len(gone), host.name, gone, room))
    rivals: list[str] = []
    for _, name, gone, room in sorted(ways, key=lambda way: way[:2]):
        rooms[name] = room
        rivals += [run for run in gone if run not in rivals]
        if eligibility.fits(ask, lambda host: rooms[host.name]):
            return rivals
    return []


def _displaced(situation: Situation, ask: Ask, host: Host, want: int) -> tuple[list[str], Room]:
    room = situation.left[host.name]
    gone: list[str] = []
    there = sorted(
        situation.on_host[host.name],
        key=lambda pair: (-pair[0].each.ask.gpus, -pair[0].each.ask.millicores, pair[0].run),
    )
    for start, seat in there:
        if situation.eligibility.slots(ask, host, room) >= want:
            break
        if ask.array and start.run == ask.array:
            continue
        room = given_back(room, start.each.ask, seat)
        if start.run not in gone:
            gone.append(start.run)
    return gone, room


def _named(runs: Sequence[str]) -> str:
    shown = ", ".join(runs[:NAMED])
    return f"{shown} and {len(runs) - NAMED} more" if len(runs) > NAMED else shown


def _too_little_room(situation: Situation, ask: Ask, why: Why) -> Reason | None:
    takers = [verdict for verdict in why.verdicts if not verdict.empty]
    best = closest(situation, ask, why.verdicts)
    if best is None:
        return None
    tasks = ask.tasks or 0
    if tasks > 1:
        return _too_few_places(situation, ask, takers, best)
    if not best.now:
        return Reason.of(Code.SOLVER_LIMIT, "fits, and was not placed in the time given")
    reason = best.now[0].reason
    message = f"the closest, {best.host.name}: {reason.message}"
    return _said(reason, message, closest=best.host.name)


def _too_few_places(
    situation: Situation, ask: Ask, takers: Sequence[Verdict], best: Verdict
) -> Reason:
    """Return the reason of a run whose workers don't all fit at once."""
    tasks = ask.tasks or 0
    fit = situation.eligibility.workers_that_fit(ask, situation.room_left)
    if not ask.may_share and len(takers) < tasks:
        return Reason.of(
            Code.SPREAD_CONFLICT,
            f"needs {tasks} different machines, and only {len(takers)} could ever take a worker",
            need=tasks,
            machines=len(takers),
        )
    short = [verdict for verdict in takers if verdict.now] or [best]
    worst = min(short, key=lambda verdict: _lack(situation, ask, verdict))
    code = worst.now[0].reason.code if worst.now else Code.INSUFFICIENT_CPU
    detail = f"; the closest, {worst.host.name}: {worst.now[0].reason.message}" if worst.now else ""
    return Reason.of(
        code,
        f"needs room for {tasks} workers at once, and {fit} fit{detail}",
        need=tasks,
        fit=fit,
        closest=worst.host.name,
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
