"""Thousands of hosts: what starts is settled cell by cell, then packed and improved on hosts.

Greedy ways fill the hosts. Where they miss the bound of the linear relaxation, CP-SAT chooses over
cells, tier by tier, which runs start; its answer is packed onto the hosts and filled up. What is
still missing is sought on a few hosts at a time, those with GPUs to spare more often than others,
until the bound or a limit. Which runs start is then settled; the later stages move workers only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stowplan.model.decision import Stage
from stowplan.solver import climbing, points, ties
from stowplan.solver.cells import MOST_CELLS, Cell, apart, binding, merged, signatures
from stowplan.solver.chain import Chain, Tally
from stowplan.solver.choices import Choices
from stowplan.solver.greedy import greedy
from stowplan.solver.grid import Grid
from stowplan.solver.handout import at_risk_taken
from stowplan.solver.large.bounds import Bounds, least_at_risk
from stowplan.solver.large.neighbourhoods import Neighbourhoods
from stowplan.solver.large.overcells import better_over_cells, program_over_cells
from stowplan.solver.large.packing import packed
from stowplan.solver.large.valuewise import with_less_regret
from stowplan.solver.layout import Layout
from stowplan.solver.limits import Limits as Shared
from stowplan.solver.money.bands import are_kept, banded, standings
from stowplan.solver.program.linear import Goal
from stowplan.solver.program.search import search
from stowplan.solver.values import values_of
from stowplan.solver.whole import Whole

HOST_BY_HOST = 4000
"""Variables up to which place is also searched host by host, where cells don't settle it."""
WORTHWHILE, SLOW = 0.001, 3
"""Points are sought until so many neighbourhoods in a row each bring less than this share."""
SLOW_TO_LEAVE = 6
"""And so many where NVLink domains are to be left."""


class Cellwise:
    """The layout as the stages improve it, with the programs that bound it."""

    def __init__(
        self, grid: Grid, shared: Shared, chain: Chain, layout: Layout | None = None
    ) -> None:
        """Start with a layout; without one, with the best of a few greedy ways."""
        self.grid, self.shared, self.chain = grid, shared, chain
        self._binds = binding(grid)
        self.choices = program_over_cells(grid, shared)
        chain.measure(self.choices.program)
        self.bounds = Bounds(self.choices)
        self.layout = layout or greedy(
            self.choices, lambda it: self.bounds.is_best(it) or chain.is_over()
        )

    def solved(self) -> Layout:
        """Return the layout after all stages."""
        self._place()
        return self.finished()

    def finished(self, least: int | None = None, climbed: Sequence[Stage] = ()) -> Layout:
        """Return the layout after the stages that come after place.

        `least` is how few GPUs at risk could do in groups other than those of the grid; `climbed`
        the account of how these groups were chosen.
        """
        if any(each is not None for each in self.grid.appraisals):
            self._settle_value()
        self._spare_at_risk(least)
        self.chain.stages.extend(climbed)
        self._leave_domains()
        self._earn_points()
        if any(self.layout.references):
            self._suit_offerings()
        left, fewest = ties.holes(self.layout), ties.fewest_holes(self.layout)
        self.chain.stages.append(Tally("holes", left, fewest, searched=False).stage())
        self.chain.stages.append(Tally("canonical", searched=False).stage())
        return self.layout

    def _settle_value(self) -> None:
        """Meet the most wishes, then have the least regret; from here on each run has its band."""
        tally = Tally("value")
        layout = with_less_regret(self.layout, self.shared, self.chain, self._binds, tally)
        self.chain.stages.append(tally.stage())
        layout.references = standings(layout)
        self.grid = banded(self.grid, layout.references)
        self.layout = layout.over(self.grid)
        self._report("value", tally)

    def _suit_offerings(self) -> None:
        """Choose among offerings within the bands by what comes last: machines stay as they are."""
        there = {
            host
            for index in range(len(self.grid.classes))
            for host in self.grid.where[index].tolist()
            if self.grid.offered[host]
        }
        if there and len(there) <= HOST_BY_HOST and not self.chain.is_over():
            cells = apart(self.grid, sorted(there))
            choices = Choices(
                self.grid, self.shared, cells, signatures(self.grid), others=self.layout
            )
            self.layout = Whole.suited(choices, self.chain, self.layout)

    def _place(self) -> None:
        """Place the most weight; one entry in the account for all tiers."""
        chain, tally = self.chain, Tally("place")
        tally.objective, tally.bound = self._weighed()
        self._report("place, greedy", tally)
        for finer in self._ever_finer():
            if self._is_near() or chain.is_over():
                break
            if finer is not self.choices:
                self.choices, self.bounds = finer, Bounds(finer, self.bounds)
            self.layout = better_over_cells(self.bounds, self.layout, chain, tally)
            tally.objective, tally.bound = self._weighed()
            self._report("place, over cells", tally)
        self._fill_idle(tally)
        if not chain.is_over():
            tally.price = self.bounds.price(self.layout)
        tally.proven = tally.bound == tally.objective or self._is_near()
        if not tally.proven:
            chain.cut = chain.cut or "deterministic_time"
        chain.stages.append(tally.stage())

    def _ever_finer(self) -> Iterator[Choices]:
        """Yield the program over cells, then over smaller ones, then host by host."""
        yield self.choices
        cells = merged(self.grid, self._binds, finer="all")
        if len(self.choices.cells) < len(cells) <= MOST_CELLS:
            yield self._program(cells)
        if sum(len(there) for there in self.grid.where) <= HOST_BY_HOST:
            by_host = Choices(self.grid, self.shared, apart(self.grid), signatures(self.grid))
            self.chain.measure(by_host.program)
            yield by_host

    def _is_near(self) -> bool:
        """Whether the layout is within the gap asked of the best."""
        return self.bounds.is_near(self.layout, self.chain.settings.gap)

    def _fill_idle(self, tally: Tally) -> None:
        """Solve for a few hosts at a time until the bound, or the stage's share of time."""
        tally.objective, tally.bound = self._weighed()
        if self._is_near():
            return
        for gain in self._neighbourhoods("place", tally).start_more():
            tally.objective, tally.bound = self._weighed()
            if gain.is_whole and gain.found.objective == gain.found.bound:
                tally.bound = tally.objective
            if gain.amount:
                self._report("place, a few hosts", tally)
            if self._is_near() or (gain.is_whole and not gain.amount):
                break

    def _spare_at_risk(self, least: int | None) -> None:
        """Give out the fewest GPUs at risk; `least` as in `finished`."""
        chain, tally = self.chain, Tally("at_risk")
        tally.objective = at_risk_taken(self.layout)
        if tally.objective:
            tally.bound = least_at_risk(self.choices, self.layout)
        if least is not None:
            tally.bound = min(tally.bound, least)
        if tally.objective > tally.bound and not chain.is_over():
            found = self._least_at_risk(tally)
            tally.bound = max(tally.bound, found) if least is None else tally.bound
            tally.objective = at_risk_taken(self.layout)
            self._move_off_risk(tally)
        tally.proven = tally.objective == tally.bound
        chain.stages.append(tally.stage())

    def _least_at_risk(self, tally: Tally) -> int:
        """Return a bound on the GPUs at risk; where its cells pack, they give the layout."""
        chain = self.chain
        cells = merged(self.grid, self._binds, finer="at_risk")
        choices = self._program(cells) if len(cells) <= MOST_CELLS else self.choices
        fixed = choices.fixed(self.layout.started, options=True)
        goal = Goal(choices.at_risk_taken(), maximise=False)
        limits = chain.limits("at_risk", 0)
        found = search(
            choices.program,
            goal,
            values_of(choices, self.layout),
            replace(limits, deterministic=limits.deterministic / 2),
            trivial=0,
            fixed=fixed,
            interrupt=chain.interrupt,
        )
        chain.logs.append(f"#### at_risk, over cells\n{found.log}")
        tally.spend(found)
        other = packed(choices, found.values)
        other.references = self.layout.references
        if other.started == self.layout.started and are_kept(other, self.layout.references):
            self.layout = min(other, self.layout, key=at_risk_taken)
        return found.bound

    def _move_off_risk(self, tally: Tally) -> None:
        """Give out fewer GPUs at risk on a few hosts at a time, until the bound or the limit."""
        if tally.objective <= tally.bound:
            return
        for gain in self._neighbourhoods("at_risk", tally).spare_at_risk():
            tally.objective -= gain.amount
            if gain.is_whole:
                tally.bound = max(tally.bound, gain.found.bound)
            self._report("at_risk", tally)
            if tally.objective <= tally.bound or gain.is_whole:
                return

    def _leave_domains(self) -> None:
        """Leave little room in NVLink domains, a few hosts at a time, as long as that brings
        enough; their groups are chosen already where runs have several workers."""
        tally = Tally("room", climbing.of_layout(self.layout)[2], climbing.least_room(self.layout))
        if not tally.objective:
            return
        slow = 0
        if tally.objective > tally.bound:
            for gain in self._neighbourhoods("room", tally).leave_domains():
                slow = 0 if gain.amount > WORTHWHILE * tally.objective else slow + 1
                tally.objective -= gain.amount
                if gain.is_whole:
                    tally.bound = max(tally.bound, gain.found.bound)
                self._report("room", tally)
                if slow == SLOW_TO_LEAVE or gain.is_whole or tally.objective <= tally.bound:
                    break
        tally.proven = tally.objective == tally.bound
        self.chain.stages.append(tally.stage())

    def _earn_points(self) -> None:
        """Earn more points, a few hosts at a time, as long as that brings enough."""
        tally = Tally("points", points.earned(self.layout))
        started = {
            each.name: sum(started)
            for each, started in zip(self.grid.classes, self.layout.started, strict=True)
        }
        tally.bound = points.most(self.grid, started)
        slow = 0
        if tally.objective < tally.bound:
            for gain in self._neighbourhoods("points", tally).earn_points():
                slow = 0 if gain.amount > WORTHWHILE * abs(tally.objective) else slow + 1
                tally.objective += gain.amount
                if gain.is_whole:
                    tally.bound = min(tally.bound, gain.found.bound)
                self._report("points", tally)
                if slow == SLOW or gain.is_whole or tally.objective >= tally.bound:
                    break
        tally.proven = tally.objective == tally.bound
        self.chain.stages.append(tally.stage())

    def _neighbourhoods(self, name: str, tally: Tally) -> Neighbourhoods:
        return Neighbourhoods(name, self.layout, self.shared, self.chain, tally)

    def _program(self, cells: list[Cell]) -> Choices:
        choices = Choices(self.grid, self.shared, cells, signatures(self.grid, self._binds))
        self.chain.measure(choices.program)
        return choices

    def _weighed(self) -> tuple[int, int]:
        """Return the weight that starts, and the most that could, over all tiers."""
        return sum(self.layout.weights()), sum(self.bounds.of(self.layout.started))

    def _report(self, title: str, tally: Tally) -> None:
        starting = sum(map(sum, self.layout.started))
        self.chain.report(title, starting, tally.objective, tally.bound)
