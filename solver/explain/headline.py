"""The one reason why a run waits: the first of these that is true.

No host could ever take it: one and the same reason on every host, else that of the host that comes
nearest. A shared limit is used up (quota, array). The queue, where there is room. The room went to
runs placed in this cycle. Too little room, with the closest host.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stowplan.model.money import in_cents
from stowplan.model.reasons import Code, Figure, Reason
from stowplan.model.runs import Run
from stowplan.solver.asks import Ask, RunClass, queue_order
from stowplan.solver.explain.groups import Groups
from stowplan.solver.explain.nearest import nearest, telling
from stowplan.solver.explain.rivals import outcompeted
from stowplan.solver.explain.too_few import TooFew
from stowplan.solver.explain.uncut import kept_uncut
from stowplan.solver.explain.waiting import READY, Verdict, Why
from stowplan.solver.matching import gpus
from stowplan.solver.situation import Situation

_SMALL = {Code.INSUFFICIENT_GPUS, Code.INSUFFICIENT_CPU, Code.INSUFFICIENT_MEMORY}


@dataclass(frozen=True)
class Headline:
    """Why the runs of a class wait: worked out once, but for each run's place in a strict queue."""

    situation: Situation
    each: RunClass
    why: Why

    def of(self, run: Run) -> Reason:
        """Return the one reason why a run of the class waits."""
        return (
            self._uncut(run)
            or self._limit
            or self.groups.patience(run)
            or _behind(self.situation, self.each, run, self.groups)
            or self._room
        )

    def _uncut(self, run: Run) -> Reason | None:
        """A limit on its shape, where machines are too small for those that it leaves."""
        if not self.why.verdicts or self.why.closest is not None:
            return None
        if self._same and self._same.code not in _SMALL:
            return None
        return kept_uncut(self.situation, self.each, run)

    @cached_property
    def _same(self) -> Reason | None:
        return _same_everywhere(self.each.ask, self.why)

    @cached_property
    def groups(self) -> Groups:
        """The groups that its workers could be on together."""
        return self.why.groups

    @cached_property
    def _limit(self) -> Reason | None:
        """What comes before the queue: no host could ever take it, or a limit is used up."""
        ask, why = self.each.ask, self.why
        if not why.verdicts:
            return _no_hosts(self.situation, ask)
        if why.closest is None:
            return _of_offerings(why, self._same or self._never)
        return (
            _over_quota(self.situation, self.each)
            or _over_a_purse(self.situation, self.each, self.groups)
            or _array_is_full(self.situation, self.each)
        )

    @property
    def _never(self) -> Reason:
        """Why the run could not start even if every host were empty."""
        if (self.each.ask.tasks or 0) > 1 and any(not each.empty for each in self.why.verdicts):
            topology = self.groups.why_not(self.situation.rooms_empty)
            return topology or TooFew(self.situation, self.each, self.why).reason()
        return _nearest(self.each.ask, self.why)

    @cached_property
    def _room(self) -> Reason:
        """What comes after the queue: who took the room, or which is closest to having it."""
        return (
            outcompeted(self.situation, self.each, self.groups)
            or self.groups.why_not(self.situation.rooms_left)
            or self._only_when_empty
            or _too_little_room(self.situation, self.each, self.why)
        )

    @property
    def _only_when_empty(self) -> Reason | None:
        """What of its topology keeps a run out whatever room there is."""
        if self.groups.fits(self.situation.rooms_empty):
            return None
        return self.groups.why_not(self.situation.rooms_empty)


def _of_offerings(why: Why, reason: Reason) -> Reason:
    """Return NO_OFFERING_FITS where there are only offerings, and none is large enough."""
    if reason.code not in _SMALL or not all(each.host.offering for each in why.verdicts):
        return reason
    if any(each.rule.bars for verdict in why.verdicts for each in verdict.empty[:1]):
        return reason  # one would do, but for what it costs
    return Reason.of(Code.NO_OFFERING_FITS, reason.message, **reason.numbers)


def _no_hosts(situation: Situation, ask: Ask) -> Reason:
    code = Code.INSUFFICIENT_GPUS if ask.gpus else Code.INSUFFICIENT_CPU
    return Reason.of(code, f"the fleet has no {situation.word}", need=ask.gpus or 1, whole=0)


def _same_everywhere(ask: Ask, why: Why) -> Reason | None:
    """One and the same reason that isn't room, on every host, as the nearest of them says it."""
    best = nearest(ask, why.verdicts)
    everywhere = set.intersection(*({f.reason.code for f in v.empty} for v in why.verdicts))
    for failing in best.empty:
        code = failing.reason.code
        if code in everywhere:
            said = [(v, f.reason) for v in why.verdicts for f in v.empty if f.reason.code == code]
            where, reason = f"the nearest, {best.host.name}", failing.reason
            if failing.rule.name in READY:  # of such hosts none is nearer than another
                verdict, reason = _commonest(said)
                where = f"e.g. {verdict.host.name}"
            if len({each.message for _, each in said}) == 1:
                where = ""
            return _said(reason, f"{_where(ask, why, where)}: {_when_empty(why, best, reason)}")
    return None


def _when_empty(why: Why, verdict: Verdict, reason: Reason) -> str:
    """Return what a host would say if it were empty: what it has, where some of it is taken."""
    host, free, whole = verdict.host, reason.numbers.get("free"), reason.numbers.get("whole")
    is_empty = why.situation.room_left(host).devices == host.empty.devices
    if reason.code != Code.INSUFFICIENT_GPUS or free != whole or is_empty:
        return reason.message
    told = reason.message.removesuffix(" free")
    return told.replace(f", {free} of {whole}", f", has {whole}")


def _commonest(said: Iterable[tuple[Verdict, Reason]]) -> tuple[Verdict, Reason]:
    """Return what most hosts say, and the first of them by name."""
    counts: Counter[str] = Counter()
    firsts: dict[str, tuple[Verdict, Reason]] = {}
    for verdict, reason in sorted(said, key=lambda each: each[0].host.name):
        counts[reason.message] += verdict.count
        firsts.setdefault(reason.message, (verdict, reason))
    return firsts[counts.most_common(1)[0][0]]


def _where(ask: Ask, why: Why, which: str) -> str:
    if why.checked == 1:
        return why.verdicts[0].host.name
    pools = f" of the pools of {ask.workspace}" if ask.pools is not None else ""
    on_all = f"on all {why.checked:,} {why.situation.word}{pools}"
    return f"{on_all}; {which}" if which else on_all


def _said(reason: Reason, message: str, **more: Figure) -> Reason:
    """Return the reason in other words, with more numbers."""
    return reason.model_copy(update={"message": message, "numbers": {**reason.numbers, **more}})


def _over_quota(situation: Situation, each: RunClass) -> Reason | None:
    workspace = situation.snapshot.workspaces[each.ask.workspace]
    quota, need = workspace.gpu_quota, each.ask.all_gpus
    if quota is None or not need:
        return None
    held = quota - situation.limits.quota_left[workspace.name]
    placed = situation.gpus_placed(workspace.name)
    if held + placed + need <= quota:
        return None
    message = (
        f"needs {need:,} {gpus(need)}; workspace {workspace.name} has "
        f"{max(0, quota - held - placed):,} left of its quota of {quota:,} "
        f"({held:,} held, {placed:,} placed in this cycle)"
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


def _over_a_purse(situation: Situation, each: RunClass, groups: Groups) -> Reason | None:
    """Return what the cheapest host costs that would be free, where a purse has too little left."""
    ask, rooms = each.ask, situation.rooms_left
    priced = rooms.priced(ask)
    if priced is None or not priced.purses:
        return None
    if (ask.tasks or 0) > 1 and rooms.fits(ask):
        is_short = not groups.fits(rooms) and groups.fits(situation.rooms_unspent)
        return groups.why_not_bought(rooms) if is_short else None
    if rooms.fits(ask) or not situation.rooms_unspent.fits(ask):
        return None
    places = np.nonzero(situation.rooms_unspent.slots(ask))[0]
    cheapest = situation.hosts[int(places[np.argmin(priced.all_costs[places])])]
    failing = situation.eligibility.of_price(ask, cheapest, priced)
    if not failing:
        return None
    reason = failing[0].reason
    spent = sum(purse.micro - priced.left[purse.key] for purse in priced.purses)
    message = f"on {cheapest.name}, the cheapest, it {reason.message}"
    if spent:
        message += f"; {in_cents(spent)} went to runs of this cycle"
    return _said(reason, message, host=cheapest.name)


def _array_is_full(situation: Situation, each: RunClass) -> Reason | None:
    array = each.runs[0].array
    if array is None or array.max_parallel is None:
        return None
    started = situation.started[each.name]
    running = array.max_parallel - situation.limits.parallel_left[each.name]
    if running + started < array.max_parallel:
        return None
    return Reason.of(
        Code.ARRAY_LIMIT,
        f"runs {running + started:,} elements at once, as many as max_parallel allows",
        max_parallel=array.max_parallel,
        running=running,
        placed=started,
    )


def _behind(situation: Situation, each: RunClass, run: Run, groups: Groups) -> Reason | None:
    """Held by a strict queue although there is room."""
    ahead = _first_ahead(situation, each, run)
    if ahead is None or not groups.fits(situation.rooms_left):
        return None
    return Reason.of(
        Code.QUEUED_BEHIND,
        f"there is room, but '{ahead}' is ahead of it in {each.ask.workspace}'s queue and waits",
        behind=ahead,
        workspace=each.ask.workspace,
    )


def _first_ahead(situation: Situation, each: RunClass, run: Run) -> str | None:
    """Return the run that holds a run back in its strict queue, the first in line."""
    first = situation.first_in_line.get(each.ask.workspace)
    if first is None:
        return None
    stands = queue_order(run, situation.snapshot)
    return first.name if queue_order(first, situation.snapshot) < stands else None


def _too_little_room(situation: Situation, each: RunClass, why: Why) -> Reason:
    if (each.ask.tasks or 0) > 1:
        return TooFew(situation, each, why).reason()
    best = why.closest
    if best is None or not best.now:
        return Reason.of(Code.SOLVER_LIMIT, "fits, and was not placed in the time given")
    reason = best.now[0].reason
    message = f"the closest, {best.host.name}: {reason.message}"
    return _said(reason, message, closest=best.host.name)


def _nearest(ask: Ask, why: Why) -> Reason:
    """Return what keeps the run off the host that comes nearest."""
    best = nearest(ask, why.verdicts)
    reason = telling(best)
    others = why.checked - 1
    rest = f" ({others:,} more won't do either)" if others else ""
    where = f"the nearest, {best.host.name}" if others else best.host.name
    return _said(reason, f"{where}: {_when_empty(why, best, reason)}{rest}")
