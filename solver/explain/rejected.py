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
from stowplan.model.topology import MACHINE
from stowplan.solver.explain.alike import MOST_ROWS, Row, Said, ends, rows
from stowplan.solver.explain.answers import answers
from stowplan.solver.explain.outranked import Outranked
from stowplan.solver.explain.standing import Standing


class Told(NamedTuple):
    """The rows that a run carries, and the run whose table holds for it beside them."""

    rows: tuple[Rejected, ...]
    same_as: str | None


@dataclass(frozen=True)
class Tables:
    """The tables of runs of a class that spend the same: one for each number of GPUs at risk that
    they take."""

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
        alike = [each for each in self.standing.alike if each.most_at_risk == risk]
        names = self.standing.situation.names
        outranked = Outranked(self.standing, alike, risk).rows()
        return _Table([*outranked, *self._elsewhere, *self._refusing], names)

    @cached_property
    def _elsewhere(self) -> list[Row]:
        """The hosts that would take a worker of the run, and aren't of the group that it is on."""
        group, ask = self.standing.each.group, self.standing.each.ask
        if group is None:
            return []
        listed = self.standing.situation.listed(ask)
        places = listed[self.standing.rooms.slots(ask)[listed] > 0]
        places = places[~self.standing.is_inside(places)]
        name, where = group.joint.name, group.joint.words
        if group.vicinity is not None:
            name, where = group.vicinity.name, f"in {group.vicinity.name}"
        if self.standing.each.deal is not None and self.standing.appraisal is not None:
            text = f"not {where}, where all of the run is"
            reason = Reason.of(Code.OUTRANKED, text, stage="value", value=name, reference=name)
            return [Row(places, 0, (reason,))] if len(places) else []
        if group.rung == MACHINE:
            name = str(self.standing.situation.names[group.hosts[0]])
            where = f"on machine {name}"
        text = f"not {where}, where all of the run is"
        reason = Reason.of(Code.OUTRANKED, text, stage="rung", value=name, reference=group.rung)
        return [Row(places, 0, (reason,))] if len(places) else []

    @cached_property
    def _refusing(self) -> list[Row]:
        """The hosts that can't take one more worker, with their reasons."""
        situation, ask = self.standing.situation, self.standing.each.ask
        listed = situation.listed(ask)
        return rows(
            Said(each.hosts, 0, ends(each))
            for each in answers(self.standing.rooms, ask, listed, MOST_ROWS)
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
