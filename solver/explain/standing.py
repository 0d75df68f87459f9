"""How the hosts of a class's runs compare with all others: scores, and who would take one more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from stowplan.model.decision import Scores
from stowplan.solver import points
from stowplan.solver.asks import RunClass
from stowplan.solver.decode import Seat
from stowplan.solver.explain.worth import Figures, Worth
from stowplan.solver.rooms import Ints
from stowplan.solver.situation import Situation


@dataclass(frozen=True)
class Willing:
    """Hosts that could take one more worker of a class, best first; an array for each figure."""

    places: Ints
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
    _scores: dict[tuple[int, ...], Scores] = field(default_factory=dict)

    @cached_property
    def worth(self) -> Worth:
        """What workers of the class earn."""
        return Worth(self.figures, self.each.ask)

    @cached_property
    def willing(self) -> Willing:
        """The hosts that could take one more worker."""
        ask, rooms = self.each.ask, self.situation.rooms_left
        listed = self.situation.listed(ask)
        places = listed[rooms.slots(ask)[listed] > 0]
        sound = rooms.count(ask, lambda has: has.sound)[places]
        at_risk = np.maximum(0, ask.gpus - sound) * (not ask.healthy_only)
        own, gain = self.worth.of_one_more(places, at_risk)
        order = np.lexsort((places, -own, at_risk))
        return Willing(places[order], at_risk[order], own[order], gain[order])

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
    def takers(self) -> Sequence[tuple[int, str, int]]:
        """What one more worker would cost in points on each willing host, its name, its slots."""
        places = np.sort(self.willing.places)
        own, _ = self.worth.of_one_more(places, np.zeros_like(places))
        slots = self.situation.rooms_left.slots(self.each.ask)[places]
        names = self.situation.names[places].tolist()
        return sorted(zip((-own).tolist(), names, slots.tolist(), strict=True))

    def scores(self, run: str) -> Scores:
        """Return the scores of a run on its hosts: the mean over its workers."""
        seated = self.seated[run]
        places, own = seated.places.tolist(), seated.points.tolist()
        key = (*places, *own)
        if key not in self._scores:
            self._scores[key] = Scores(
                fit=_mean([self.figures.fit[place] for place in places]),
                time_to_result=1.0,
                cost_to_complete=1.0,
                recovery_value=1.0,
                health=_mean([self.figures.health[place] for place in places]),
                points=round(_mean([each / points.POINT for each in own]), 3),
            )
        return self._scores[key]

    def _places(self, seats: Iterable[Seat]) -> Ints:
        place_of = self.situation.place_of
        return np.array([place_of[seat.host.name] for seat in seats], np.int64)


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4)
