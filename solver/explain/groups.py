"""Why a run of several workers waits, as far as groups go: sites, labels, and room in one group.

Each reason is found by leaving a rule out: what would fit then, and what is missing with it.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from stowplan.model.reasons import Code, Figure, Reason
from stowplan.model.runs import Run
from stowplan.model.topology import RUNG_WORDS, Unit
from stowplan.solver.asks import Ask, RunClass
from stowplan.solver.explain.bought import Buying
from stowplan.solver.explain.sites import Sites
from stowplan.solver.ladder import BOUGHT, Group
from stowplan.solver.options import Options, rung_of
from stowplan.solver.rooms import Ints, Rooms
from stowplan.solver.rules.keep_within import WORDS
from stowplan.solver.situation import Situation

_JOINING = ("keep_within", "spread", "interconnect")
"""Rules that narrow the groups on which a run could be."""


@dataclass(frozen=True)
class Groups:
    """The groups that a class of runs could be on, with some room on each host."""

    situation: Situation
    each: RunClass

    @cached_property
    def options(self) -> Options:
        """What is open to runs."""
        return Options(self.situation.eligibility)

    def fits(self, rooms: Rooms, *, at_once: bool = True) -> bool:
        """Whether a run fits somewhere, alone; `at_once`: without waiting for a tighter rung."""
        return self.place(rooms, at_once=at_once) is not None

    def place(self, rooms: Rooms, *, at_once: bool = True) -> tuple[Ask, Group | None] | None:
        """Return the best shape and group in which a run fits, alone, with this much room."""
        tightest = self.tightest if at_once and self._only_tightest else None
        return next(
            (
                (ask, group)
                for ask, group in self._all
                if (tightest is None or rung_of(group) == tightest)
                and self.options.fits(ask, group, rooms)
            ),
            None,
        )

    @cached_property
    def _all(self) -> Sequence[tuple[Ask, Group | None]]:
        return self.options.all_of(self.each, buying=True)

    @cached_property
    def _only_tightest(self) -> bool:
        return self.options.only_tightest(self.each.ask)

    @cached_property
    def tightest(self) -> int | None:
        """The tightest rung that a run could ever get."""
        return self.options.tightest(self.each, buying=True)

    @cached_property
    def _looser(self) -> int | None:
        """The rung on which it would fit, and that it doesn't take yet."""
        if not self._only_tightest or self.fits(self.situation.rooms_left):
            return None
        found = self.place(self.situation.rooms_left, at_once=False)
        return None if found is None else rung_of(found[1])

    def patience(self, run: Run) -> Reason | None:
        """PATIENCE where a run of the class would fit on a rung that it doesn't take yet.

        How long it still waits is its own: runs alike may have another patience, or be older.
        """
        rung = self._looser
        if rung is None or self.tightest is None:
            return None
        submitted = run.submitted_at or self.situation.snapshot.now
        until = submitted + dt.timedelta(seconds=run.topology.patience_s)
        left = math.ceil((until - self.situation.snapshot.now).total_seconds())
        room = "it could be on offerings, and nothing tells how tightly those are joined"
        if rung != BOUGHT:
            room = f"there is room on {RUNG_WORDS[rung]} (rung {rung})"
        text = (
            f"{room}; for {left:,} s more it waits for "
            f"{RUNG_WORDS[self.tightest]} (rung {self.tightest})"
        )
        return Reason.of(Code.PATIENCE, text, rung=rung, tightest=self.tightest, seconds=left)

    def why_not(self, rooms: Rooms) -> Reason | None:
        """Return what of its topology keeps a run out that would fit otherwise; None: nothing."""
        ask = self.each.ask
        if (ask.tasks or 0) < 2:
            return None
        sites = Sites(self.options, rooms, rooms is self.situation.rooms_empty)
        return (
            sites.span(ask)
            or self._unlabelled(ask, rooms)
            or self._no_room(ask, rooms)
            or sites.span_anyway(ask)
            or self.why_not_bought(rooms)
        )

    def why_not_bought(self, rooms: Rooms) -> Reason | None:
        """Return which of its rules no set of instances keeps; None: too few would do anyway."""
        return Buying(self.options, self.each, rooms).why_not()

    def _unlabelled(self, ask: Ask, rooms: Rooms) -> Reason | None:
        """TOPOLOGY_UNLABELLED where it would fit, were those without the label in the unit."""
        for rule in ("keep_within", "spread"):
            unit: Unit | None = getattr(ask, rule)
            if unit is None or unit == "node":
                continue
            known = self.options.ladder.units(unit)
            slots = rooms.slots(replace(ask, keep_within=None, spread=None))
            unknown = np.array(
                [
                    place
                    for place in np.nonzero((known < 0) & (slots > 0))[0].tolist()
                    if not self.situation.hosts[place].offering
                ],
                np.int64,
            )
            if not len(unknown):
                continue
            if self._best_with(ask, rule, unknown, slots) >= (ask.tasks or 0):
                names = tuple(self.situation.names[unknown].tolist())
                machines = "machine" if len(names) == 1 else "machines"
                text = (
                    f"{len(names):,} {machines} that would do, {names[0]} among them: "
                    f"not known in which {WORDS[unit]}, for {rule}: {unit}"
                )
                return Reason.of(
                    Code.TOPOLOGY_UNLABELLED, text, rule=rule, unit=unit, machines=len(names)
                )
        return None

    def _best_with(self, ask: Ask, rule: str, unknown: Ints, slots: Ints) -> int:
        """Return the most workers in one group, were machines of its site in it that are in none
        as far as is known."""
        hosts, most_on_one = self.situation.hosts, (ask.tasks or 0) if ask.may_share else 1
        free = np.minimum(slots, most_on_one)
        ladder = self.options.ladder
        relaxed = replace(ask, keep_within=None, spread=None)
        most = 0
        kept = ask.keep_within if rule == "keep_within" else None
        for group in ladder.groups(kept, ask.min_gbps):
            if group.joint.sites > 1 or not self.options.allows(relaxed, group):
                continue
            more = [
                place
                for place in unknown.tolist()
                if getattr(hosts[place].spot, "site", None) == group.joint.site
                and place not in set(group.hosts.tolist())
            ]
            if rule == "spread":  # each would be in a rack of its own
                more += [place for place in unknown.tolist() if place in set(group.hosts.tolist())]
            known = free[group.hosts] * self._has(ask, group.hosts)
            own = ladder.workers(ask, group.hosts, known)
            most = max(most, own + int(free[np.array(more, np.int64)].sum()))
        sites: dict[str | None, int] = {}
        for place in unknown.tolist():  # all of them in one that nobody has named yet
            site = getattr(hosts[place].spot, "site", None)
            sites[site] = sites.get(site, 0) + int(free[place])
        named = np.nonzero((free > 0) & (self._has(ask, np.arange(len(hosts))) > 0))[0].tolist()
        for place in named:  # or in one that has a single machine so far, and so is no group
            if (site := getattr(hosts[place].spot, "site", None)) in sites:
                most = max(most, sites[site] + int(free[place]))
        return max(most, *sites.values())

    def _has(self, ask: Ask, hosts: Ints) -> Ints:
        """Return for each host whether it is known where it is, as far as the run's rules go."""
        known = np.ones(len(hosts), np.bool_)
        for unit in (ask.keep_within, ask.spread):
            if unit is not None and unit != "node":
                known &= self.options.ladder.units(unit)[hosts] >= 0
        return known.astype(np.int64)

    def _no_room(self, ask: Ask, rooms: Rooms) -> Reason | None:
        """TOPOLOGY_NO_ROOM where it would fit on a site's machines, whatever joins them."""
        relaxed = replace(ask, keep_within=None, interconnect=None, spread=None)
        slots = np.where(rooms.slots(ask) > 0, rooms.slots(ask), 0)
        ladder, tasks = self.options.ladder, ask.tasks or 0
        sites = [group for group in ladder.groups(None) if group.joint.sites == 1]
        if not any(ladder.workers(relaxed, g.hosts, slots[g.hosts]) >= tasks for g in sites):
            return None
        there = ladder.groups(ask.keep_within, ask.min_gbps)
        open_to = [group for group in there if self.options.allows(ask, group)]
        rules = tuple(rule for rule in _JOINING if getattr(ask, rule))
        kind = _kind(ask, open_to)
        if self._is_for_speed(ask, slots, open_to):
            rules, kind = (*rules, "min_gbps"), f"{kind} of {ask.min_gbps:g} Gbit/s"
        if not open_to:
            text = f"no {kind} joins two machines that could take its workers"
            if ask.keep_within == "node":
                text = "no machine takes the whole run, however empty"
            return Reason.of(
                Code.TOPOLOGY_NO_ROOM, text, workers=tasks, fit=0, empty=True, rules=rules
            )
        is_loose = not (ask.keep_within or ask.interconnect)
        fit, best = max(
            ((ladder.workers(ask, g.hosts, slots[g.hosts]), g) for g in open_to),
            key=lambda pair: (pair[0], pair[1].rung * (1 if is_loose else -1), -pair[1].number),
        )
        is_empty = rooms is self.situation.rooms_empty
        even = ", even if it were empty" if is_empty else ""
        name = best.joint.shared(ask.keep_within) if ask.keep_within else best.joint.name
        text = (
            f"no {kind} has room for {_whole(ask)}{even}: "
            f"best is {name or 'the one there is'} with {fit:,} of {tasks:,} workers"
        )
        figures: dict[str, Figure] = {"best": name, "empty": is_empty, "rules": rules}
        return Reason.of(Code.TOPOLOGY_NO_ROOM, text, workers=tasks, fit=fit, **figures)

    def _is_for_speed(self, ask: Ask, slots: Ints, open_to: Sequence[Group]) -> bool:
        """Whether more workers of it could be together, were slower ports of theirs enough."""
        if not ask.min_gbps or ask.interconnect not in ("rdma", "infiniband"):
            return False
        ladder = self.options.ladder

        def most(groups: Iterable[Group]) -> int:
            fitting = (ladder.workers(ask, each.hosts, slots[each.hosts]) for each in groups)
            return max(fitting, default=0)

        there = ladder.groups(ask.keep_within)
        return most(each for each in there if self.options.allows(ask, each)) > most(open_to)


def _whole(ask: Ask) -> str:
    """Return what is to be on one group: the run, or a worker in each of so many racks."""
    if ask.spread is None or ask.spread == "node":
        return "the whole run"
    return f"a worker in each of {ask.tasks:,} {WORDS[ask.spread]}s"


def _kind(ask: Ask, groups: Sequence[Group]) -> str:
    """Return what kind of group, of those that are open to it, would have to take the run."""
    if ask.keep_within == "fabric":
        return f"{_network(ask, groups)}fabric"
    if ask.keep_within is not None:
        return WORDS[ask.keep_within]
    match ask.interconnect:
        case "nvlink":
            return "NVLink domain"
        case "infiniband":
            return "InfiniBand fabric"
        case "rdma":
            return "RDMA network"
        case None:
            return "site"


def _network(ask: Ask, groups: Sequence[Group]) -> str:
    """Return of which kind the fabrics are, where all of them are of one."""
    kinds = {
        next((own.word for own in joint.fabrics if own.name == joint.unit), "")
        for joint in (group.joint for group in groups)
    }
    if len(kinds) == 1 and (word := next(iter(kinds))):
        return f"{word} "
    return {"infiniband": "InfiniBand ", "rdma": "RDMA "}.get(ask.interconnect or "", "")
