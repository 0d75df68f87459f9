"""A bound on what any decision places, by linear programs that know nothing of groups.

Machines are taken together that take the same runs and have as many GPUs free. In such a cell each
size of worker has a row: a machine with 7 free has one piece of 4, so that workers of 4 and of 8
take no more pieces than the machines have. A gang is so many workers, of its cuts any mix, and in a
cell there are no more of them than gangs times machines. That they must be near each other isn't
asked, which only lets more through: no decision weighs more than this says.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.bench.gangs.ground import Spot, spots_of
from tests.bench.gangs.ladder import Room
from tests.bench.gangs.program import Program, Terms
from tests.bench.gangs.runs import cuts_of, in_line, tiers_of, weight_of
from tests.bench.plain import Flags, Ints

ROUNDED = 1e-4
"""How far a linear program may be off below."""


class Kind(NamedTuple):
    """Runs that ask the same and weigh the same: one of them, and how many there are."""

    run: Run
    weight: int
    many: int


class Workers(NamedTuple):
    """Workers that take the same from the same machines."""

    gpus: int
    healthy_only: bool
    of_gangs: bool
    where: bytes
    """The machines that may host them, as flags."""


@dataclass(frozen=True)
class Cell:
    """Machines that take the same workers and have as much free."""

    machines: int
    free: int
    sound: int
    takes: frozenset[bytes]
    """Of `Workers.where`, what these are among."""

    def room(self, workers: Workers) -> int:
        """Return the GPUs that each has for such workers."""
        return self.sound if workers.healthy_only else self.free


type Sent = Mapping[Workers, Terms]
"""For workers that are alike, the columns that start runs with any, and how many each run has."""


def bounds(snapshot: Snapshot, reached: Sequence[int]) -> tuple[int, ...]:
    """Return the most weight of each priority, the highest first, while those above keep theirs.

    `reached` is what a decision places of each, in eighths as `weight_of` counts.
    """
    program, room = Program(), Room.of(snapshot)
    sent, weights = _starting(snapshot, room, program)
    inside: dict[Cell, list[tuple[Workers, int]]] = defaultdict(list)
    for workers, starts in sent.items():
        _spread(workers, starts, _cells(sent, room), inside, program)
    for cell, there in inside.items():
        _fit(cell, there, program)
    found = []
    for tier, weight in zip(tiers_of(snapshot), reached, strict=True):
        found.append(int(program.maximum(weights[tier]) + ROUNDED))
        program.row(weights[tier], weight, np.inf)
    return tuple(found)


def _starting(snapshot: Snapshot, room: Room, program: Program) -> tuple[Sent, Mapping[int, Terms]]:
    """Post a column for each kind of run and cut: how many of these start so."""
    spots = spots_of(snapshot.fleet)
    sent: dict[Workers, Terms] = defaultdict(list)
    weights: dict[int, Terms] = defaultdict(list)
    for run, weight, many in _kinds(snapshot):
        there = room.sound if run.gpus.healthy_only else room.free
        columns = []
        for workers, each in cuts_of(run):
            may = _may(run, spots, of_gang=workers > 1)
            if (may & (there >= each)).sum() >= workers:
                column = program.column(many)
                columns.append((column, 1.0))
                alike = Workers(each, run.gpus.healthy_only, workers > 1, may.tobytes())
                sent[alike].append((column, workers))
                weights[run.priority].append((column, weight))
        program.row(columns, 0, many)
    return sent, weights


def _kinds(snapshot: Snapshot) -> list[Kind]:
    first: dict[object, Run] = {}
    many: Counter[object] = Counter()
    for run in in_line(snapshot):
        asked = (run.machines, run.gpus, run.topology, run.network, run.priority)
        labels = frozenset(run.node_selection.match_labels.items())
        kind = (*asked, labels, weight_of(run, snapshot))
        first.setdefault(kind, run)
        many[kind] += 1
    return [Kind(run, weight_of(run, snapshot), many[kind]) for kind, run in first.items()]


def _may(run: Run, spots: Sequence[Spot], *, of_gang: bool) -> Flags:
    keep = run.topology.keep_within if of_gang else None
    if keep == "node":
        return np.zeros(len(spots), np.bool_)
    return np.array([spot.may_host(run) and spot.unit_of(keep) is not None for spot in spots])


def _cells(sent: Sent, room: Room) -> list[Cell]:
    wheres = list(dict.fromkeys(workers.where for workers in sent))
    flags = [np.frombuffer(where, np.bool_) for where in wheres]
    rows: Ints = np.column_stack([room.free, room.sound, *flags])
    alike, counts = np.unique(rows, axis=0, return_counts=True)
    return [
        Cell(count, free, sound, frozenset(w for w, on in zip(wheres, takes, strict=True) if on))
        for (free, sound, *takes), count in zip(alike.tolist(), counts.tolist(), strict=True)
    ]


def _spread(
    workers: Workers,
    starts: Terms,
    cells: Sequence[Cell],
    inside: dict[Cell, list[tuple[Workers, int]]],
    program: Program,
) -> None:
    """Post that all workers of runs that start are in cells that take them."""
    flow: Terms = [(column, -count) for column, count in starts]
    for cell in cells:
        fit = cell.room(workers) // workers.gpus
        if fit and workers.where in cell.takes:
            column = program.column(cell.machines * fit)
            inside[cell].append((workers, column))
            flow.append((column, 1))
            if workers.of_gangs:
                program.row(
                    [(column, 1), *((one, -cell.machines) for one, _ in starts)], -np.inf, 0
                )
    program.row(flow, 0, 0)


def _fit(cell: Cell, there: Sequence[tuple[Workers, int]], program: Program) -> None:
    """Post that workers take no more pieces of any size than the cell's machines have."""
    for room, own in (
        (cell.free, list(there)),
        (cell.sound, [(workers, column) for workers, column in there if workers.healthy_only]),
    ):
        for size in {workers.gpus for workers, _ in own} | {1}:
            pieces = [
                (column, workers.gpus // size) for workers, column in own if workers.gpus >= size
            ]
            if pieces:
                program.row(pieces, 0, cell.machines * (room // size))
