"""How the hosts of a class's runs compare with all others: scores, and who would take one more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from stowplan.model.decision import Scores
from stowplan.model.estimating.parts import needs_of
from stowplan.model.money import MICRO
from stowplan.solver import points
from stowplan.solver.asks import RunClass
from stowplan.solver.decode import Seat
from stowplan.solver.explain.worth import Figures, Worth
from stowplan.solver.money.appraisal import Appraisal
from stowplan.solver.money.bands import within
from stowplan.solver.money.prices import Bools
from stowplan.solver.money.profiles import FAILED, OWN, fit
from stowplan.solver.rooms import Ints, Rooms
from stowplan.solver.situation import Situation


@dataclass(frozen=True)
class Willing:
    """Hosts that could take one more worker of a class, best first; an array for each figure."""

    places: Ints
    outside: Bools
    """Whether it is beyond the band of what the runs were left."""
    at_risk: Ints
    """How many GPUs at risk the worker would take."""
    points: Ints
    """What the worker would earn there."""
    gain: Ints
    """What all workers there would earn more, itself included."""


@dataclass(frozen=True)
class Seated:
    """What a run's workers earn where they are; an array for each figure, worker by worker."""

    places: Ints
    at_risk: Ints
    points: Ints
    lost: Ints
    """What all workers there would earn less without it."""

    @cached_property
    def most_at_risk(self) -> int:
        """How many GPUs at risk the worker takes that takes the most."""
        return int(self.at_risk.max())


@dataclass(frozen=True)
class Standing:
    """How the hosts compare for one class, with all else as decided; worked out once a class."""

    situation: Situation
    each: RunClass
    figures: Figures
    cost: int = 0
    """What the runs compared are expected to cost of a purse: each has that to spend elsewhere."""
    _scores: dict[tuple[int, ...], Scores] = field(default_factory=dict)

    @cached_property
    def worth(self) -> Worth:
        """What workers of the class earn."""
        return Worth(self.figures, self.each.ask)

    @cached_property
    def appraisal(self) -> Appraisal | None:
        """What hosts are worth to the class, where anything tells them apart."""
        return self.situation.grid.appraisals[self.index]

    @property
    def index(self) -> int:
        """The class's place among all."""
        return self.situation.index_of[self.each.name]

    @cached_property
    def rooms(self) -> Rooms:
        """The hosts when all that starts has started, but for what one of its runs costs."""
        situation, purses = self.situation, self.situation.grid.purses_of[self.index]
        if not purses:
            return situation.rooms_left
        left = {k: left + self.cost * (k in purses) for k, left in situation.plan.left.items()}
        return situation.rooms_left.beside(left)

    def ranks(self, places: Ints) -> tuple[Ints, Ints]:
        """Return the tier and the measure of hosts that would take a run; else 0."""
        if self.appraisal is None:
            return np.zeros((2, len(places)), np.int64)[0], np.zeros(len(places), np.int64)
        at = np.searchsorted(self.appraisal.hosts, places)
        return self.appraisal.tier[at], self.appraisal.measure[at]

    def preferences(self, places: Ints) -> list[Ints]:
        """Return what the profile prefers in its band, in order; the lower the better."""
        if self.appraisal is None:
            return []
        at = np.searchsorted(self.appraisal.hosts, places)
        return [
            each.figure(self.situation.grid, self.index)[at] * (-1 if each.maximise else 1)
            for each in (FAILED, *OWN)
        ]

    def is_inside(self, places: Ints) -> Bools:
        """Return which hosts are of the group that a run of several workers is on."""
        group = self.each.group
        if self.each.deal is not None and self.appraisal is not None:
            return np.isin(places, self.appraisal.hosts)
        if group is None:
            return np.ones(len(places), np.bool_)
        return np.isin(places, group.hosts)

    def room_left(self, places: Ints) -> Ints:
        """Return what a single worker leaves free of the NVLink domain of each host."""
        free = self.situation.eligibility.ladder.room_of_one[places]
        is_one = self.each.group is None and self.each.ask.tasks == 1
        left: Ints = np.where((free >= 0) & is_one, free - self.each.ask.gpus, 0)
        return left

    def outside(self, places: Ints) -> Bools:
        """Return which hosts are beyond the band of what the class's workers were left."""
        references = self.situation.plan.references.get(self.each.name, ())
        if self.appraisal is None or not references:
            return np.zeros(len(places), np.bool_)
        at = np.searchsorted(self.appraisal.hosts, places)
        if self.appraisal.of_run:
            return self._too_dear_for_one(self.appraisal, references[-1])[at]
        return ~within(self.appraisal, references[-1])[at]

    def _too_dear_for_one(self, appraisal: Appraisal, reference: tuple[int, int]) -> Bools:
        """Return the hosts with which a run would be beyond its band, were the dearest of its
        workers there."""
        assert appraisal.of_run is not None
        starts = self.situation.starts_of(self.each)
        own = [
            [int(appraisal.measure[appraisal.at(seat.host.place)]) for seat in start.seats]
            for start in starts
        ]
        rest = min(sum(measures) - max(measures) for measures in own)
        limit = appraisal.limit(*reference) - appraisal.of_run.measure - rest
        too_dear: Bools = appraisal.measure > limit
        return too_dear

    @cached_property
    def willing(self) -> Willing:
        """The hosts that could take one more worker."""
        ask, rooms = self.each.ask, self.rooms
        listed = self.situation.listed(ask)
        places = listed[rooms.slots(ask)[listed] > 0]
        places = places[self.is_inside(places)]
        sound = rooms.count(ask, lambda has: has.sound)[places]
        at_risk = np.maximum(0, ask.gpus - sound) * (not ask.healthy_only)
        own, gain = self.worth.of_one_more(places, at_risk)
        outside, (tier, measure) = self.outside(places), self.ranks(places)
        failed, *rest = self.preferences(places) or [np.zeros_like(places)]
        preferred = (*reversed(rest), -own, self.room_left(places), failed, at_risk)
        order = np.lexsort((places, *preferred, measure * outside, tier * outside, outside))
        return Willing(places[order], outside[order], at_risk[order], own[order], gain[order])

    @cached_property
    def seated(self) -> Mapping[str, Seated]:
        """Where the workers of each run of the class are, by the run's name."""
        starts = self.situation.starts_of(self.each)
        seats = [seat for start in starts for seat in start.seats]
        places = self._places(seats)
        at_risk = np.array([seat.at_risk for seat in seats], np.int64)
        own, lost = self.worth.of_one_there(places, at_risk)
        ends: dict[str, tuple[int, int]] = {}
        end = 0
        for start in starts:  # the elements of an array stand one after the other
            begin, end = end, end + len(start.seats)
            ends[start.run] = (ends.get(start.run, (begin, end))[0], end)
        return {
            run: Seated(*(figure[begin:end] for figure in (places, at_risk, own, lost)))
            for run, (begin, end) in ends.items()
        }

    @cached_property
    def alike(self) -> Sequence[Seated]:
        """Where the workers of those runs are that cost as much."""
        grid, appraisal = self.situation.grid, self.appraisal
        if appraisal is None or not grid.purses_of[self.index]:
            return list(self.seated.values())
        return [each for each in self.seated.values() if self._spent(each) == self.cost]

    def _spent(self, each: Seated) -> int:
        assert self.appraisal is not None
        costs = self.appraisal.cost[np.searchsorted(self.appraisal.hosts, each.places)]
        return int(costs.max() if self.each.ask.array else costs.sum())

    @cached_property
    def takers(self) -> Sequence[tuple[int, str, int]]:
        """What one more worker would cost in points on each willing host, its name, its slots."""
        places = np.sort(self.willing.places)
        own, _ = self.worth.of_one_more(places, np.zeros_like(places))
        slots = self.rooms.slots(self.each.ask)[places]
        names = self.situation.names[places].tolist()
        return sorted(zip((-own).tolist(), names, slots.tolist(), strict=True))

    def scores(self, run: str) -> Scores:
        """Return the scores of a run on its hosts: the mean over its workers."""
        seated = self.seated[run]
        places, own = seated.places.tolist(), seated.points.tolist()
        key = (*places, *own)
        if key not in self._scores:
            self._scores[key] = Scores(
                fit=_mean([self._fit(place) for place in places]),
                time_to_result=self._share_of_best(places, "finish_s"),
                cost_to_complete=self._share_of_best(places, "cost"),
                recovery_value=_mean([self._kept(place) for place in places]),
                health=_mean([self.figures.health[place] for place in places]),
                points=round(_mean([each / points.POINT for each in own]), 3),
            )
        return self._scores[key]

    def _fit(self, place: int) -> float:
        """Return the share of a host's GPUs that is in use; of an instance, what the run uses."""
        if self.situation.hosts[place].offering:
            used = fit(self.situation.eligibility.prices, self.each.ask)
            return int(used[place]) / MICRO
        return self.figures.fit[place]

    def _kept(self, place: int) -> float:
        """Return the share of the work that an interruption half-way leaves: all where there is
        none; half of what lies between two saves is lost, or half of all."""
        priced = self.situation.eligibility.prices.of(self.each.ask)
        if priced is None or not priced.interruptible[place]:
            return 1.0
        interval, whole = needs_of(priced.work.run).interval_s, max(1, int(priced.seconds[place]))
        lost = whole if interval is None else min(interval, whole)
        return 1 - lost / (2 * whole)

    def _share_of_best(self, places: Sequence[int], what: Literal["finish_s", "cost"]) -> float:
        """Return what the best host takes of time or money, as a share of what these do."""
        priced = self.situation.eligibility.prices.of(self.each.ask)
        if priced is None or self.appraisal is None:
            return 1.0
        figures = priced.finish_s if what == "finish_s" else priced.cost
        best = int(figures[self.appraisal.hosts].min())
        own = [int(figures[place]) for place in places]
        return _mean([1.0 if not each else best / each for each in own])

    def _places(self, seats: Iterable[Seat]) -> Ints:
        place_of = self.situation.place_of
        return np.array([place_of[seat.host.name] for seat in seats], np.int64)


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4)
