"""Thousands of hosts: what starts is settled cell by cell, then packed and improved on hosts.

Greedy ways fill the hosts. Where they miss the bound of the linear relaxation, CP-SAT chooses over
cells, tier by tier, which runs start; its answer is packed onto the hosts and filled up. What is
still missing is sought on a few hosts at a time, those with GPUs to spare more often than others,
until the bound or a limit. Which runs start is then settled; the later stages move workers only.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import replace

from stowplan.solver import points
from stowplan.solver.bounds import Bounds
from stowplan.solver.cells import Cell, binding, merged, signatures
from stowplan.solver.chain import Chain, Tally
from stowplan.solver.choices import Choices
from stowplan.solver.draws import idle, in_turn, used, wanted
from stowplan.solver.greedy import greedy
from stowplan.solver.grid import Grid
from stowplan.solver.handout import at_risk_taken
from stowplan.solver.layout import Layout
from stowplan.solver.limits import Limits as Shared
from stowplan.solver.linear import Goal
from stowplan.solver.neighbourhoods import EACH, Neighbourhoods
from stowplan.solver.overcells import better_over_cells
from stowplan.solver.packing import packed
from stowplan.solver.search import search


class Cellwise:
    """The layout as the stages improve it, with the programs that bound it."""

    def __init__(self, grid: Grid, shared: Shared, chain: Chain) -> None:
        """Start with the best of a few greedy ways."""
        self.grid, self.shared, self.chain = grid, shared, chain
        self._began = time.monotonic()
        self._binds = binding(grid)
        self.choices = self._program(merged(grid, self._binds))
        self.bounds = Bounds(self.choices)
        self.layout = greedy(self.choices, lambda it: self.bounds.is_best(it) or chain.is_over())
        self._report("place, greedy", *self._weighed())

    def solved(self) -> Layout:
        """Return the layout after all stages."""
        self._place()
        self._spare_at_risk()
        self._earn_points()
        self.chain.stages.append(Tally("canonical", searched=False).stage())
        return self.layout

    def _place(self) -> None:
        """Place the most weight; one entry in the account for all tiers."""
        chain = self.chain
        tally = Tally("place", since=self._began)
        for finer in (False, True):
            if self.bounds.is_best(self.layout) or chain.is_over():
                break
            if finer:
                cells = merged(self.grid, self._binds, finer=True)
                if len(cells) == len(self.choices.cells):
                    continue
                self.choices = self._program(cells)
                self.bounds = Bounds(self.choices)
            self.layout = better_over_cells(self.bounds, self.layout, chain, tally)
            self._report("place, over cells", *self._weighed())
        self._fill_idle(tally)
        tally.objective, tally.bound = self._weighed()
        gap = chain.settings.gap
        tally.proven = tally.bound - tally.objective <= gap * max(1, tally.objective)
        chain.stages.append(tally.stage())

    def _fill_idle(self, tally: Tally) -> None:
        """Solve for a few hosts at a time until the bound, or the stage's share of time."""
        chain, gap = self.chain, self.chain.settings.gap
        hosts = used(self.grid)
        limits = chain.limits("place", gap, tally.deterministic)
        rooms = Neighbourhoods(self.layout, self.shared, limits, chain.interrupt)
        for _ in range(int(limits.deterministic / EACH)):
            value, bound = self._weighed()
            if bound - value <= gap * bound or chain.is_over():
                break
            group = wanted(hosts, idle(self.layout, hosts), rooms.draw)
            gain = rooms.start_more(group)
            tally.spend(gain.found)
            if gain.amount:
                self._report("place, a few hosts", *self._weighed())

    def _spare_at_risk(self) -> None:
        """Give out the fewest GPUs at risk."""
        chain, tally = self.chain, Tally("at_risk")
        tally.objective = at_risk_taken(self.layout)
        if tally.objective:
            tally.bound = self._least_at_risk(tally)
            tally.objective = at_risk_taken(self.layout)
            self._move_off_risk(tally)
        tally.proven = tally.objective == tally.bound
        chain.stages.append(tally.stage())

    def _least_at_risk(self, tally: Tally) -> int:
        """Return a bound on the GPUs at risk; where its cells pack, they give the layout."""
        chain, choices = self.chain, self.choices
        fixed = self.bounds.fixed_above(None, self.layout.started)
        goal = Goal(choices.at_risk_taken(), maximise=False)
        limits = chain.limits("at_risk", 0)
        found = search(
            choices.program,
            goal,
            choices.values_of(self.layout),
            replace(limits, deterministic=limits.deterministic / 2),
            trivial=0,
            fixed=fixed,
            interrupt=chain.interrupt,
        )
        chain.logs.append(f"#### at_risk, over cells\n{found.log}")
        tally.spend(found)
        other = packed(choices, found.values)
        if other.started == self.layout.started:
            self.layout = min(other, self.layout, key=at_risk_taken)
        return found.bound

    def _move_off_risk(self, tally: Tally) -> None:
        chain, hosts = self.chain, used(self.grid)
        limits = chain.limits("at_risk", 0, tally.deterministic)
        rooms = Neighbourhoods(self.layout, self.shared, limits, chain.interrupt)
        for _ in range(int(limits.deterministic / EACH)):
            if tally.objective <= tally.bound or chain.is_over():
                break
            taken = (-self.layout.sound[hosts]).clip(0)
            gain = rooms.spare_at_risk(wanted(hosts, taken, rooms.draw))
            tally.spend(gain.found)
            tally.objective -= gain.amount
            self._report("at_risk", tally.objective, tally.bound)

    def _earn_points(self) -> None:
        """Earn more points, a few hosts at a time."""
        chain, tally = self.chain, Tally("points")
        started = {
            each.name: sum(started)
            for each, started in zip(self.grid.classes, self.layout.started, strict=True)
        }
        tally.objective = points.earned(self.layout)
        tally.bound = points.most(self.grid, started)
        limits = chain.limits("points", chain.settings.gap)
        rooms = Neighbourhoods(self.layout, self.shared, limits, chain.interrupt)
        groups = in_turn(self.grid, rooms.draw)
        for group in itertools.islice(groups, int(limits.deterministic / EACH)):
            if tally.objective >= tally.bound or chain.is_over():
                break
            gain = rooms.earn_points(group)
            tally.spend(gain.found)
            tally.objective += gain.amount
            self._report("points", tally.objective, tally.bound)
        tally.proven = tally.objective == tally.bound
        if not tally.proven:
            chain.cut = chain.cut or "deterministic_time"
        chain.stages.append(tally.stage())

    def _program(self, cells: list[Cell]) -> Choices:
        choices = Choices(self.grid, self.shared, cells, signatures(self.grid, self._binds))
        self.chain.measure(choices.program)
        return choices

    def _weighed(self) -> tuple[int, int]:
        """Return the weight that starts, and the most that could, over all tiers."""
        return sum(self.layout.weights()), sum(self.bounds.of(self.layout.started))

    def _report(self, title: str, objective: int, bound: int) -> None:
        starting = sum(map(sum, self.layout.started))
        self.chain.report(title, starting, objective, bound)
