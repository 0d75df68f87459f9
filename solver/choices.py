"""The variables: how many workers of each signature are in each cell, asked for in sentences.

Counts, not run by host: `k` runs of a class start, `x` workers of a signature are in a cell, and
where a cell has several kinds of GPU that would do, `u` GPUs of each kind go to the signature.
What can't be is the constant 0. This is the only module that knows variables; rules ask it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from stowplan.model.topology import Unit
from stowplan.solver import levels
from stowplan.solver.asks import Cohort, RunClass
from stowplan.solver.cells import Cell, Kind, Signature
from stowplan.solver.grid import Grid, Ints
from stowplan.solver.hosts import Host
from stowplan.solver.layout import Layout
from stowplan.solver.limits import Limits
from stowplan.solver.program.linear import ZERO, Program, Row, Sum, total


class Choices:
    """The program's variables, by what they mean.

    With `others`, only where workers of these signatures are in these cells is to be chosen, and
    how many runs start of the classes that are `joining`; all else is as in that layout.
    """

    def __init__(
        self,
        grid: Grid,
        limits: Limits,
        cells: Sequence[Cell],
        signatures: Sequence[Signature],
        others: Layout | None = None,
        joining: Container[int] = (),
    ) -> None:
        """Make the variables for what could be, and post every rule's rows."""
        self.grid = grid
        self.limits = limits
        self.classes = grid.classes
        self.cells = cells
        self.signatures = signatures
        self.program = Program()
        self.others = others
        """Where all else is."""
        self._starting: dict[tuple[str, int], Sum] = {}
        self._workers: dict[tuple[Signature, Cell], Sum] = {}
        self._given: dict[tuple[Signature, Kind], Sum] = {}
        self._kinds_for: dict[tuple[Signature, Cell], list[Kind]] = {}
        self._signatures_in: dict[Cell, list[Signature]] = {cell: [] for cell in cells}
        self._cells_for: dict[Signature, list[Cell]] = {each: [] for each in signatures}
        self._joining = joining
        self._cell_of = np.full(len(grid.hosts), -1, np.int64)
        for number, cell in enumerate(cells):
            self._cell_of[cell.hosts] = number
        for each in signatures:
            self._make_starts(each)
            self._make_workers(each)
        self._keep_other_starts()
        for cell in cells:
            self._make_kinds(cell)
        for rule in grid.eligibility.rules:
            if rule.post:
                self.program.post(rule.name, rule.post(self))
        self.program.post("levels", levels.post(self))

    def host_of(self, cell: Cell) -> Host:
        """Return the host of a cell that is a single one."""
        (place,) = cell.hosts
        return self.grid.hosts[int(place)]

    def cells_for(self, each: Signature) -> Sequence[Cell]:
        """Return the cells where a worker of the signature could be."""
        return self._cells_for[each]

    def signatures_in(self, cell: Cell) -> Sequence[Signature]:
        """Return the signatures of which a worker could be in the cell."""
        return self._signatures_in[cell]

    def kinds_for(self, each: Signature, cell: Cell) -> Sequence[Kind]:
        """Return the kinds of free GPU in a cell that the signature could use."""
        return self._kinds_for.get((each, cell), ())

    def starts(self, each: RunClass) -> Sum:
        """Return how many runs of the class (elements, of an array) start."""
        return total(self.starting(each, index) for index in range(len(each.cohorts)))

    def starting(self, each: RunClass, cohort: int) -> Sum:
        """Return how many runs of one of its cohorts start."""
        return self._starting.get((each.name, cohort), ZERO)

    def start_of(self, cohort: Cohort) -> Sum:
        """Return how many runs of a cohort start (strict queues have a cohort for each run)."""
        settled = self.limits.settled.get(id(cohort), 0)
        options = self._by_cohort.get(id(cohort), ())
        return total([settled, *(self.starting(*each) for each in options)])

    def started(self, values: Sequence[int]) -> list[list[int]]:
        """Return how many runs start by the values, by class and cohort."""
        return [
            [self.starting(each, cohort).at(values) for cohort in range(len(each.cohorts))]
            for each in self.classes
        ]

    @cached_property
    def _by_cohort(self) -> Mapping[int, Sequence[tuple[RunClass, int]]]:
        found: dict[int, list[tuple[RunClass, int]]] = {}
        for each in self.classes:
            for index, cohort in enumerate(each.cohorts):
                found.setdefault(id(cohort), []).append((each, index))
        return found

    def choosing(self) -> Iterator[tuple[Cohort, Sequence[tuple[RunClass, int]]]]:
        """Yield each cohort whose runs have several options, with those that it could take."""
        for own in self.grid.siblings:
            for index, cohort in enumerate(self.classes[own[0]].cohorts):
                yield cohort, [(self.classes[option], index) for option in own]

    def settled(self, started: Sequence[Sequence[int]], above: int | None = None) -> Iterator[Row]:
        """Yield rows by which as many runs start as do, of those that have several options."""
        for own in self.grid.siblings:
            if above is not None and self.classes[own[0]].ask.priority <= above:
                continue
            for index in range(len(self.classes[own[0]].cohorts)):
                start = total(self.starting(self.classes[option], index) for option in own)
                if start.terms:
                    yield start.equals(sum(started[option][index] for option in own))

    def cells_by(self, each: Signature, unit: Unit) -> Iterator[Sequence[Cell]]:
        """Yield the cells where a worker of the signature could be, those of each unit together.

        Cells that are in several units are left out.
        """
        units = self.grid.eligibility.ladder.units(unit)
        found: dict[int, list[Cell]] = {}
        for cell in self.cells_for(each):
            number, *others = set(units[cell.hosts].tolist())
            if not others:
                found.setdefault(number, []).append(cell)
        yield from found.values()

    def fixed(
        self,
        started: Sequence[Sequence[int]],
        above: int | None = None,
        *,
        options: bool = False,
    ) -> dict[int, int]:
        """Return the variables of what starts at these values; `above` a priority only.

        Of runs with several options it stays open which they take, see `settled`; but with
        `options`.
        """
        fixed: dict[int, int] = {}
        for each, counts in zip(self.classes, started, strict=True):
            is_kept = options or each.option is None
            if is_kept and (above is None or each.ask.priority > above):
                for cohort, count in enumerate(counts):
                    fixed.update(dict.fromkeys(self.starting(each, cohort).terms, count))
        return fixed

    def workers_started(self, each: Signature) -> Sum:
        """Return how many workers the runs of a signature have that start."""
        return total(self.starts(own) * (own.ask.tasks or 0) for own in each.classes)

    def workers(self, each: Signature) -> Sum:
        """Return how many workers of a signature are placed, in all cells and elsewhere."""
        placed = [self.workers_in(each, cell) for cell in self.cells_for(each)]
        return total([*placed, self._elsewhere(each)])

    def workers_in(self, each: Signature, cell: Cell) -> Sum:
        """Return how many workers of the signature are in the cell."""
        return self._workers.get((each, cell), ZERO)

    def gpus_of(self, each: Signature, kind: Kind) -> Sum:
        """Return how many GPUs of a kind go to the signature."""
        return self._given.get((each, kind), ZERO)

    def gpus_given(self, each: Signature, cell: Cell) -> Sum:
        """Return how many GPUs of the cell go to the signature, over all kinds."""
        return total(self.gpus_of(each, kind) for kind in self.kinds_for(each, cell))

    def gpus_taken(self, kind: Kind, cell: Cell) -> Sum:
        """Return how many GPUs of a kind are given out."""
        return total(self.gpus_of(each, kind) for each in self.signatures_in(cell))

    def at_risk_taken(self) -> Sum:
        """Return how many GPUs at risk are given out."""
        return total(self.at_risk_in(cell) for cell in self.cells)

    def at_risk_in(self, cell: Cell) -> Sum:
        """Return how many GPUs at risk are given out in a cell."""
        return total(self.gpus_taken(kind, cell) for kind in cell.kinds if kind.at_risk)

    def millicores_taken(self, cell: Cell) -> Sum:
        """Return the thousandths of a core that workers in the cell ask for; 0: too few to tell."""
        if not cell.cores_bind:
            return ZERO
        return self.over(cell, lambda each: each.ask.millicores)

    def memory_taken(self, cell: Cell) -> Sum:
        """Return the bytes that workers in the cell ask for; 0: too few to tell."""
        if not cell.memory_binds:
            return ZERO
        return self.over(cell, lambda each: each.ask.memory_bytes)

    def over(self, cell: Cell, amount: Callable[[Signature], int]) -> Sum:
        """Return the sum over the workers in a cell of some amount for each."""
        terms = {
            column: value * size
            for each in self.signatures_in(cell)
            if (size := amount(each))
            for column, value in self.workers_in(each, cell).terms.items()
        }
        return Sum(terms)

    def spending(self, members: Container[int]) -> Sum:
        """Return what workers of some classes are expected to cost, wherever they are.

        Where the program doesn't tell classes or hosts apart, the least it could be.
        """
        parts: list[Sum | int] = []
        for each in self.signatures:
            if all(index in members for index in each.members):
                parts.append(self.weighed(each, self.grid.cost))
        return total([*parts, self._spent_elsewhere(members)])

    def weighed(self, each: Signature, figure: Callable[[int], Ints]) -> Sum:
        """Return the sum over workers of a signature of a figure that its classes have by host.

        Of hosts taken together, and classes, the least.
        """
        cells = self._cells_for[each]
        if not cells:
            return ZERO
        least = np.full(len(self.cells), np.iinfo(np.int64).max, np.int64)
        for index in each.members:
            at = self._cell_of[self.grid.where[index]]
            inside = at >= 0
            np.minimum.at(least, at[inside], figure(index)[inside])
        terms: dict[int, int] = {}
        for cell in cells:
            figured = int(least[self._cell_of[cell.hosts[0]]])
            if figured:
                for column, value in self._workers[each, cell].terms.items():
                    terms[column] = value * figured
        return Sum(terms)

    def elsewhere_in(self, each: Signature, hosts: Container[int]) -> int:
        """Return how many workers of a signature are on some hosts that aren't chosen for."""
        if self.others is None:
            return 0
        return sum(
            there.get(index, 0)
            for host, there in enumerate(self.others.there)
            if there and host in hosts and self._cell_of[host] < 0
            for index in each.members
        )

    def copied(self) -> Iterator[Sequence[RunClass]]:
        """Yield the options that are open to one run at a time, those of each run together."""
        found: dict[tuple[str, int], list[RunClass]] = {}
        for each in self.classes:
            if each.copy is not None:
                found.setdefault((each.first, each.copy), []).append(each)
        yield from found.values()

    def dealt(self) -> Iterator[tuple[Signature, int]]:
        """Yield the signatures of options that are priced as a whole, with their place."""
        for each in self.signatures:
            if each.classes[0].deal is not None:
                yield each, each.members[0]

    def on_hosts(self, each: Signature, hosts: Ints) -> Sum:
        """Return how many workers of a signature are on some hosts, each a cell of its own."""
        wanted = set(hosts.tolist())
        cells = (cell for cell in self.cells_for(each) if int(cell.hosts[0]) in wanted)
        return total(self.workers_in(each, cell) for cell in cells)

    def _spent_elsewhere(self, members: Container[int]) -> int:
        """Return what the workers cost that aren't chosen for."""
        if self.others is None:
            return 0
        grid, chosen = self.grid, {index for each in self.signatures for index in each.members}
        spent = 0
        for host, there in enumerate(self.others.there):
            for index, workers in there.items():
                is_chosen = index in chosen and self._cell_of[host] >= 0
                if index in members and not is_chosen:
                    at = int(np.searchsorted(grid.where[index], host))
                    spent += int(grid.cost(index)[at]) * workers
        return spent

    def _make_starts(self, each: Signature) -> None:
        for index, own in zip(each.members, each.classes, strict=True):
            for cohort, some in enumerate(own.cohorts):
                if self.others is not None and index not in self._joining:
                    start = Sum({}, self.others.started[index][cohort])
                elif self.grid.fits[index]:
                    least = self._started(index, cohort) if self._is_partly_elsewhere(each) else 0
                    start = self.program.variable(some.count, least)
                else:
                    start = ZERO
                self._starting[own.name, cohort] = start

    def _is_partly_elsewhere(self, each: Signature) -> bool:
        """Whether runs may have workers both here and in no cell of these: they must go on."""
        return each.ask.tasks != 1 and bool(self._elsewhere(each))

    def _started(self, index: int, cohort: int) -> int:
        """Return how many runs of a cohort start as all others are."""
        return self.others.started[index][cohort] if self.others else 0

    def _make_workers(self, each: Signature) -> None:
        starts = total(self.starts(own) for own in each.classes)
        if starts == ZERO:
            return
        upper = np.sum([self._most(index) for index in each.members], axis=0)
        for number in np.nonzero(upper)[0].tolist():
            cell = self.cells[number]
            self._workers[each, cell] = self.program.variable(int(upper[number]))
            self._cells_for[each].append(cell)
            self._signatures_in[cell].append(each)

    def _most(self, index: int) -> Ints:
        """Return by cell how many workers of a class its hosts could take at most."""
        grid, each = self.grid, self.classes[index]
        workers = each.count * (each.ask.tasks or 0)
        at = grid.where[index]
        inside = self._cell_of[at] >= 0
        at, positions = at[inside], np.nonzero(inside)[0]
        on_one = np.where(grid.offered[at] | each.ask.may_share, workers, each.count)
        slots = np.minimum(grid.slots(index, grid.room, positions), on_one)
        by_cell = np.zeros(len(self.cells), np.int64)
        np.add.at(by_cell, self._cell_of[at], slots)
        return np.minimum(by_cell, workers)

    def _make_kinds(self, cell: Cell) -> None:
        for each in self.signatures_in(cell):
            kinds = [kind for kind in cell.kinds if each.members[0] in kind.users]
            if not each.ask.gpus:
                continue
            self._kinds_for[each, cell] = kinds
            workers = self.workers_in(each, cell) * each.ask.gpus
            most = self.program.range(workers)[1]
            for kind in kinds:
                alone = len(kinds) == 1
                given = workers if alone else self.program.variable(min(kind.free, most))
                self._given[each, kind] = given

    def _keep_other_starts(self) -> None:
        """Let the classes that aren't chosen for start as many runs as they do."""
        if self.others is None:
            return
        for each, started in zip(self.classes, self.others.started, strict=True):
            for cohort, count in enumerate(started):
                self._starting.setdefault((each.name, cohort), Sum({}, count))

    def _elsewhere(self, each: Signature) -> int:
        """Return how many workers of a signature are in no cell of these."""
        if self.others is None:
            return 0
        there = sum(self.others.placed[index] for index in each.members)
        return there - sum(
            self.others.workers_in(index, cell.hosts)
            for index in each.members
            for cell in self.cells
        )
