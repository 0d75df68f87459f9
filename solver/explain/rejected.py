"""Why no other host: what is said of the hosts that a placed run isn't on.

Runs of a class ask the same, so which of them is where says nothing: a host is held against the
place of the one that earns least. So those that take as many GPUs at risk share one table. The
first of them carries it; for the others it holds too, but for the hosts that they or the first
are on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stowplan.model.decision import Rejected
from stowplan.model.reasons import Code, Reason
from stowplan.solver import points
from stowplan.solver.explain.alike import MOST_ROWS, Row, Said, ends, rows
from stowplan.solver.explain.answers import answers
from stowplan.solver.explain.standing import Seated, Standing
from stowplan.solver.matching import gpus
from stowplan.solver.rooms import groups


class Told(NamedTuple):
    """The rows that a run carries, and the run whose table holds for it beside them."""

    rows: tuple[Rejected, ...]
    same_as: str | None


@dataclass(frozen=True)
class Tables:
    """The tables of a class: one for each number of GPUs at risk that its runs take."""

    standing: Standing
    _firsts: dict[int, tuple[str, _Table]] = field(default_factory=dict)

    def of(self, run: str) -> Told:
        """Return what a run says of other hosts."""
        own = self.standing.seated[run]
        risk = own.most_at_risk
        if risk not in self._firsts:
            self._firsts[risk] = (run, self._table(risk))
        first, table = self._firsts[risk]
        there = own.places.tolist()
        if first == run:
            return Told(tuple(table.without(there)), None)
        others = self.standing.seated[first].places.tolist()
        return Told(tuple(table.only(sorted(set(others) - set(there)))), first)

    def _table(self, risk: int) -> _Table:
        alike = [each for each in self.standing.seated.values() if each.most_at_risk == risk]
        names = self.standing.situation.names
        outranked = _Outranked(self.standing, alike, risk).rows()
        return _Table([*outranked, *self._refusing], names)

    @cached_property
    def _refusing(self) -> list[Row]:
        """The hosts that can't take one more worker, with their reasons."""
        situation, ask = self.standing.situation, self.standing.each.ask
        listed = situation.listed(ask)
        return rows(
            Said(each.hosts, 0, ends(each))
            for each in answers(situation.rooms_left, ask, listed, MOST_ROWS)
            if each.most
        )


class _Table:
    """Rows that tell of each listed host once."""

    def __init__(self, told: Sequence[Row], names: npt.NDArray[np.object_]) -> None:
        self._rows, self._names = told, names
        self._some: dict[tuple[int, tuple[int, ...]], Rejected] = {}
        self._row_of = np.full(len(names), -1, np.int64)
        for number, row in enumerate(told):
            self._row_of[row.hosts] = number

    def without(self, places: Sequence[int]) -> Iterator[Rejected]:
        """Yield the rows without some hosts."""
        touched = {int(self._row_of[place]) for place in places}
        for number, row in enumerate(self._rows):
            hosts = row.hosts
            if number in touched:
                hosts = hosts[~np.isin(hosts, places)]
            if len(hosts):
                yield Rejected(hosts=tuple(self._names[hosts].tolist()), reasons=row.reasons)

    def only(self, places: Iterable[int]) -> Iterator[Rejected]:
        """Yield what the rows say of some hosts."""
        hosts: dict[int, list[int]] = {}
        for place in places:
            hosts.setdefault(int(self._row_of[place]), []).append(place)
        for number, there in sorted(hosts.items()):
            if number >= 0:
                yield self._of_some(number, tuple(there))

    def _of_some(self, number: int, places: tuple[int, ...]) -> Rejected:
        """Return a row of some hosts: the same object each time, as many runs carry it."""
        key = (number, places)
        if key not in self._some:
            names = tuple(self._names[place] for place in places)
            self._some[key] = Rejected(hosts=names, reasons=self._rows[number].reasons)
        return self._some[key]


@dataclass(frozen=True)
class _Outranked:
    """The hosts that would do, held against the places of runs that share a table."""

    standing: Standing
    alike: Sequence[Seated]
    risk: int
    """How many GPUs at risk each of the runs takes, in the worker that takes the most."""

    def rows(self) -> list[Row]:
        """Return the hosts by why each wasn't chosen, the best first."""
        willing = self.standing.willing
        riskier = willing.at_risk > self.risk
        better = np.where(riskier, 0, np.sign(willing.gain - self._lost))
        value = np.where(riskier, willing.at_risk, willing.points)
        by_value = groups(np.vstack((riskier, better, value)))
        if len(by_value) > MOST_ROWS:
            by_value = groups(np.vstack((riskier, better, np.sign(value - self._earned))))
        said = []
        for ranks in by_value:
            first = ranks[0]
            reasons = tuple(
                (self._reason(bool(riskier[first]), end, int(better[first])),)
                for end in sorted({int(value[ranks].min()), int(value[ranks].max())})
            )
            said.append(Said(ranks, 0, reasons))
        return [row._replace(hosts=np.sort(willing.places[row.hosts])) for row in rows(said)]

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

    def _reason(self, is_riskier: bool, value: int, better: int) -> Reason:
        if is_riskier:
            text = f"would take {value} {gpus(value)} at risk, against {self.risk}"
            return Reason.of(
                Code.OUTRANKED, text, stage="at_risk", value=value, reference=self.risk
            )
        return self._not_better(value, better)

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
