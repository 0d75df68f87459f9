"""Why the workers of one run don't all fit at once, and what would be enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from stowplan.model.reasons import Code, Figure, Reason
from stowplan.solver.asks import Ask, RunClass
from stowplan.solver.explain.groups import Groups
from stowplan.solver.explain.nearest import is_kept_out_by_itself, nearest, telling
from stowplan.solver.explain.sides import SIZE_RULES
from stowplan.solver.explain.waiting import Verdict, Why
from stowplan.solver.matching import gpus
from stowplan.solver.rooms import Ints, Rooms
from stowplan.solver.situation import Situation


class More(NamedTuple):
    """Machines that would be enough beside those that there are."""

    number: int
    like: str
    """The machine that they would be like."""


@dataclass(frozen=True)
class TooFew:
    """A class of runs of several workers for which there are too few places."""

    situation: Situation
    each: RunClass
    why: Why

    @property
    def _ask(self) -> Ask:
        return self.each.ask

    @property
    def _tasks(self) -> int:
        return self._ask.tasks or 0

    def reason(self) -> Reason:
        """Return the reason of a run whose workers don't all fit at once."""
        verdicts = self.why.verdicts
        offered = [each.places for each in verdicts if not each.empty and each.host.offering]
        if offered:
            return self._instances(np.concatenate(offered))
        takers = sum(each.count for each in verdicts if not each.empty)
        if not self._ask.may_share and takers < self._tasks:
            return self._machines(takers)
        if self.why.closest is None:
            return self._even_empty()
        closest, fit = self.why.closest, _workers_that_fit(self.situation.rooms_left, self._ask)
        short = closest.now[0].reason if closest.now else None
        detail = f"; the closest, {closest.host.name}: {short.message}" if short else ""
        return Reason.of(
            short.code if short else Code.INSUFFICIENT_CPU,
            f"needs room for {self._tasks:,} workers at once, and {fit:,} fit{detail}",
            workers=self._tasks,
            fit=fit,
            closest=closest.host.name,
        )

    def _instances(self, places: Ints) -> Reason:
        """Return how many instances can start of those that would do, where that is too few, and
        how many machines take a worker."""
        workers = self.situation.rooms_left.workers(self._ask)
        there = int(workers[places].sum())
        text = f"needs {self._tasks:,} instances at once, and {there:,} can start now"
        if any(self.situation.hosts[place].is_assumed for place in places):
            text += ", as far as is assumed where no catalog says (policy.assumed_available)"
        others = int(workers.sum()) - there
        if others:
            text += f"; machines have room for {others:,} of its workers"
        return Reason.of(Code.NO_CAPACITY_NOW, text, workers=self._tasks, fit=there)

    def _machines(self, takers: int) -> Reason:
        """Return what keeps as many others out as would be enough; else that there are too few."""
        message = f"needs {self._tasks:,} different machines, and {takers:,} could take a worker"
        for kept_out in self._kept_out():
            if takers + sum(verdict.count for verdict in kept_out) >= self._tasks:
                best = nearest(self._ask, kept_out)
                reason = telling(best)
                message = f"{message}; the nearest other, {best.host.name}: {reason.message}"
                numbers = {**reason.numbers, "workers": self._tasks, "machines": takers}
                return reason.model_copy(update={"message": message, "numbers": numbers})
        if len(self.each.ways) > 1:
            return self._even_empty()
        return Reason.of(Code.SPREAD_CONFLICT, message, workers=self._tasks, machines=takers)

    def _kept_out(self) -> Iterator[Sequence[Verdict]]:
        """Yield machines that only their own side keeps out; and those that one rule of the run
        does, the rule first that costs the least to loosen."""
        machines = [each for each in self.why.verdicts if not each.host.offering]
        yield [each for each in machines if is_kept_out_by_itself(each)]
        alone = [each.empty[0].rule for each in machines if len(each.empty) == 1]
        own = {rule.name: rule for rule in alone if rule.name not in SIZE_RULES}
        for rule in sorted(own.values(), key=lambda rule: (rule.cost is None, rule.cost or 0)):
            yield [
                each
                for each in machines
                if len(each.empty) == 1 and each.empty[0].rule.name == rule.name
            ]

    def _even_empty(self) -> Reason:
        """Return how many workers the empty machines hold, and how many more would be enough."""
        ask, rooms = self._ask, self.situation.rooms_empty
        most, fit = (_workers_that_fit(each, ask) for each in (rooms, self.situation.rooms_left))
        of = f" of {ask.gpus:,} {gpus(ask.gpus)}" if ask.gpus else ""
        text = f"needs room for {self._tasks:,} workers{of} at once; "
        text += f"the empty machines hold {most:,}"
        code, each = self._short(), 1
        if code == Code.INSUFFICIENT_GPUS:
            each = ask.gpus
        numbers: dict[str, Figure] = {"need": self._tasks * each, "whole": most * each}
        if len(self.each.ways) > 1 and (more := self.more()):
            text += f"; {more.number:,} more like {more.like} would hold the rest"
            numbers |= {"more": more.number, "like": more.like}
        return Reason.of(code, text, workers=self._tasks, fit=fit, **numbers)

    def _short(self) -> Code:
        """Return of what the empty machines have too little."""
        ask, rooms = self._ask, self.situation.rooms_empty
        if ask.millicores and (not ask.gpus or rooms.fits(replace(ask, millicores=0))):
            return Code.INSUFFICIENT_CPU
        if not ask.gpus or (ask.memory_bytes and rooms.fits(replace(ask, memory_bytes=0))):
            return Code.INSUFFICIENT_MEMORY
        return Code.INSUFFICIENT_GPUS

    def more(self) -> More | None:
        """Return the fewest machines like one that there is with which a run would fit, were they
        empty; None where others like them don't count, or cost something."""
        ask = self._ask
        if ask.names or ask.ids or ask.work or ask.spread in ("rack", "fabric"):
            return None
        options = Groups(self.situation, self.each).options
        groups = [group for group in options.groups(ask) if group and not group.is_bought]
        if not (ask.keep_within or ask.interconnect):
            groups += options.ladder.sites
        workers = self.situation.rooms_empty.workers(ask)
        found = []
        for group in groups:
            there = workers[group.hosts]
            if group.rung > 1 and (most := int(there.max(initial=0))):
                count = -((int(there.sum()) - self._tasks) // most)
                found.append(More(count, self.situation.hosts[group.hosts[there.argmax()]].name))
        return min((each for each in found if each.number > 0), default=None)


def _workers_that_fit(rooms: Rooms, ask: Ask) -> int:
    """Return how many workers of one run fit at once, at most as many as it has."""
    return min(ask.tasks or 0, int(rooms.workers(ask).sum()))
