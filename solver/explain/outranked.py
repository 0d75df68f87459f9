"""Outranked: why a host that would do wasn't chosen, by the first stage that tells them apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stowplan.model.money import MICRO, in_cents
from stowplan.model.reasons import Code, Reason
from stowplan.solver import points
from stowplan.solver.explain.alike import MOST_ROWS, Row, Said, rows
from stowplan.solver.explain.standing import Seated, Standing
from stowplan.solver.matching import gpus
from stowplan.solver.money.appraisal import Measure, Tier
from stowplan.solver.money.prices import Ints, hours
from stowplan.solver.money.profiles import FAILED, OWN
from stowplan.solver.rooms import groups

_VALUE, _AT_RISK, _ROOM, _POINTS, _OWN = range(5)
"""What tells a host apart from those chosen; from _OWN on, the profile's preferences by number."""


def _told(by: Measure, value: int) -> str:
    match by:
        case "usd_per_hour":
            return f"{in_cents(value)} USD an hour"
        case "cost_usd":
            return f"{in_cents(value)} USD in all"
        case "finish_s":
            return f"done after {hours(value)} h"


def _plain(by: Measure, value: int) -> float:
    return float(value) if by == "finish_s" else value / MICRO


_PREFERRED: Mapping[str, Callable[[int, int], str]] = {
    "recent_failures": lambda there, here: (
        "a start failed there lately" if there > here else "no start failed there lately"
    ),
    "cost": lambda there, here: f"{in_cents(there)} USD there, {in_cents(here)} where it is",
    "price": lambda there, here: f"{in_cents(there)} USD there, {in_cents(here)} where it is",
    "health": lambda there, here: f"health {there / MICRO:g} there, {here / MICRO:g} where it is",
    "start": lambda there, here: f"starts after {there} s there, {here} s where it is",
    "fit": lambda there, here: f"used to {there / MICRO:.0%} there, {here / MICRO:.0%} where it is",
    "warm": lambda there, here: "warm there" if there > here else "not warm there",
    "warm_at_last": lambda there, here: "warm there" if there > here else "not warm there",
}
"""How a difference in what a profile prefers is told: there, and where the run is."""
_MOST: Mapping[str, int] = {"health": MICRO, "fit": MICRO, "warm": 1, "warm_at_last": 1}
"""The most of what is to be most."""


@dataclass(frozen=True)
class Outranked:
    """The hosts that would do, held against the places of runs that share a table."""

    standing: Standing
    alike: Sequence[Seated]
    risk: int
    """How many GPUs at risk each of the runs takes, in the worker that takes the most."""

    def rows(self) -> list[Row]:
        """Return the hosts by why each wasn't chosen, the best first."""
        standing, willing = self.standing, self.standing.willing
        tier, measure = standing.ranks(willing.places)
        riskier = willing.at_risk > self.risk
        better = np.where(riskier, 0, np.sign(willing.gain - self._lost))
        stage = np.where(willing.outside, _VALUE, np.where(riskier, _AT_RISK, _POINTS))
        value = np.where(riskier, willing.at_risk, willing.points)
        for number, preferred, own in self._preferences:
            apart = (stage == _POINTS) & (preferred != own) & ((better == 0) | (number == 0))
            stage[apart], value[apart] = _OWN + number, preferred[apart]
            better[apart] = np.sign(own - preferred)[apart]
        room = standing.room_left(willing.places)
        worse = (room != self._room) & ~willing.outside & ~riskier
        stage = np.where(worse, _ROOM, stage)
        value = np.where(worse, room, value)
        better = np.where(worse, np.sign(self._room - room), better)
        value = np.where(willing.outside, measure, value)
        better = np.where(willing.outside, tier, better)
        by_value = groups(np.vstack((stage, better, value)))
        if len(by_value) > MOST_ROWS:
            against = np.where(stage == _POINTS, np.sign(value - self._earned), 0)
            by_value = groups(np.vstack((stage, better, against)))
        said = []
        for ranks in by_value:
            first = ranks[0]
            reasons = tuple(
                (self._reason(int(stage[first]), end, int(better[first])),)
                for end in sorted({int(value[ranks].min()), int(value[ranks].max())})
            )
            said.append(Said(ranks, 0, reasons))
        return [row._replace(hosts=np.sort(willing.places[row.hosts])) for row in rows(said)]

    @cached_property
    def _preferences(self) -> list[tuple[int, Ints, int]]:
        """What the profile prefers, in order: its number, that of each host, and the runs' own."""
        places = np.concatenate([each.places for each in self.alike])
        own = self.standing.preferences(places)
        there = self.standing.preferences(self.standing.willing.places)
        worst = (int(each.max()) for each in own)
        return list(zip(range(len(there)), there, worst, strict=True))

    @cached_property
    def _room(self) -> int:
        """What the one of the runs leaves free of its NVLink domain that leaves most."""
        return max(int(self.standing.room_left(each.places).max()) for each in self.alike)

    @cached_property
    def _earned(self) -> int:
        return min(int(each.points.min()) for each in self.alike)

    @cached_property
    def _lost(self) -> int:
        return min(int(each.lost.min()) for each in self.alike)

    @cached_property
    def _where(self) -> str:
        """Where what is earned is earned: by all of the runs, or by those that earn least."""
        alone = len(self.alike) == 1
        alike = alone or all((each.points == self._earned).all() for each in self.alike)
        return "where it is" if alike else "or more where its kind is"

    def _reason(self, stage: int, value: int, better: int) -> Reason:
        if stage == _VALUE:
            return self._too_dear(Tier(better), value)
        if stage == _ROOM:
            text = (
                f"leaves {value} {gpus(value)} free in its NVLink domain, {self._room} where it is"
            )
            if better > 0:
                text += "; all runs together do better this way"
            return Reason.of(Code.OUTRANKED, text, stage="room", value=value, reference=self._room)
        if stage >= _OWN:
            return self._less_preferred(stage - _OWN, value, better)
        if stage == _AT_RISK:
            text = f"would take {value} {gpus(value)} at risk, against {self.risk}"
            return Reason.of(
                Code.OUTRANKED, text, stage="at_risk", value=value, reference=self.risk
            )
        return self._not_better(value, better)

    def _too_dear(self, tier: Tier, value: int) -> Reason:
        """Return why a host is beyond the band of what the runs were left."""
        appraisal = self.standing.appraisal
        assert appraisal is not None
        name = self.standing.each.name
        best, reference = self.standing.situation.plan.references[name][-1]
        by = "cost_usd" if tier == Tier.BEYOND else appraisal.by
        there, here = _told(by, value), _told(appraisal.by, reference)
        where = "where it is" if len(self.alike) == 1 else "or less where its kind is"
        text = f"{there} there, {here} {where}"
        if appraisal.of_run:
            text = f"{there} there for one of its workers, and {here} for all {where}"
        if tier > best and best == Tier.POOL:
            text = f"{there} there, and not in the pool that it wants first"
        elif tier > best and best == Tier.PREFERRED:
            text = f"{there} there, and not interruptible, as it prefers"
        elif tier == Tier.BEYOND and best < tier:
            text = f"{there} there, too dear to be chosen for speed"
        numbers = {"value": _plain(by, value), "reference": _plain(appraisal.by, reference)}
        return Reason.of(Code.OUTRANKED, text, stage="value", measure=by, **numbers)

    def _less_preferred(self, number: int, value: int, better: int) -> Reason:
        """Return why a host as good in value wasn't chosen."""
        name = (FAILED, *OWN)[number].name
        own = self._preferences[number][2]
        most = _MOST.get(name)  # of these it is what is missing that counts
        there, here = (each if most is None else most - each for each in (value, own))
        text = _PREFERRED[name](there, here)
        if better > 0:
            text += "; all runs together do better this way"
        stage = "warm" if name.startswith("warm") else name
        return Reason.of(
            Code.OUTRANKED, f"as good, and {text}", stage=stage, value=there, reference=here
        )

    def _not_better(self, value: int, better: int) -> Reason:
        """Return why a host wasn't chosen; `better`: whether all together would earn more there."""
        there, here = value / points.POINT, self._earned / points.POINT
        text = f"{there:g} points there, {here:g} {self._where}"
        if better > 0:
            text += "; the search ended before it was tried"
        elif better < 0 and value >= self._earned:
            text += "; all runs together earn more this way"
        elif not better:
            is_tie = value == self._earned and self._where == "where it is"
            text = f"as good ({there:g} points)" if is_tie else f"{text}, as good for all"
        stage = "points" if better else "canonical"
        return Reason.of(Code.OUTRANKED, text, stage=stage, value=there, reference=here)
