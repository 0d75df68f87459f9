"""Runs of several workers on a large fleet: which of them start, where, and the rest around them.

What starts is settled for all runs together, cell by cell, as if machines of one site were all
joined alike (but for what a run's own rules say): that bounds what can be placed. All that starts
then takes turns on the hosts, runs of several workers on the tightest groups that have room; the
later stages move workers inside the groups chosen.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from stowplan.model.decision import Stage
from stowplan.solver import climbing
from stowplan.solver.asks import Ask, RunClass
from stowplan.solver.chain import Chain, Tally
from stowplan.solver.choices import Choices
from stowplan.solver.grid import Grid
from stowplan.solver.large.bounds import OF_CEILING, Bounds, Ceilings, Lead, are_near, least_at_risk
from stowplan.solver.large.buying import Buying
from stowplan.solver.large.cellwise import Cellwise
from stowplan.solver.large.overcells import program_over_cells, values_over_cells
from stowplan.solver.large.turns import Built, Turns, option_of
from stowplan.solver.large.wheel import Counts, Shapes, Spin, Wheel, standing
from stowplan.solver.layout import Layout
from stowplan.solver.ledger import Ledger
from stowplan.solver.limits import Limits
from stowplan.solver.options import Options, has_options, rung_of


@dataclass
class Gangwise:
    """The way from classes of runs to a layout, where some of them have several workers."""

    classes: Sequence[RunClass]
    options: Options
    limits: Limits
    chain: Chain

    def solved(self) -> tuple[Layout, Grid]:
        """Return the layout after all stages, and the grid of the options that it has chosen."""
        spin = self._placed()
        began = time.monotonic()
        built = self._tighter(spin)
        spent = time.monotonic() - began
        layout = self._inside_groups(built)
        rest = Cellwise(layout.grid, self.limits, self.chain, layout)
        after = rest.finished(
            least_at_risk(self._choices, built.layout),
            list(_climbed(layout, self.options, spent)),
        )
        return Buying(
            self.classes, self.options, self.limits, self.chain, after, layout.grid
        ).done()

    def lead(self, grid: Grid) -> Lead:
        """Return what is found by turns, over a grid of all options, with bounds over cells.

        The account of that is left out of the chain's.
        """
        own = replace(self, chain=replace(self.chain, stages=[], logs=[], cut=None))
        return own._lead(grid)

    def _lead(self, grid: Grid) -> Lead:
        built = self._tighter(self._placed())
        return Lead(_over(grid, built), Ceilings(self._choices, built.layout))

    def _tighter(self, spin: Spin) -> Built:
        """Return the same runs on tighter groups."""
        counts, _ = _counted(self._choices, spin.built.layout.started)
        return self._wheel.tighter(spin, counts)

    @cached_property
    def _choices(self) -> Choices:
        """The program over cells, with options as wide as whole sites."""
        eligibility = self.options.eligibility
        wide = Grid(self.options.of(self.classes, widest=True), eligibility, eligibility.hosts)
        choices = program_over_cells(wide, self.limits)
        self.chain.measure(choices.program)
        return choices

    @cached_property
    def _turns(self) -> Turns:
        return Turns(self.classes, self.options, self._choices)

    @cached_property
    def _wheel(self) -> Wheel:
        return Wheel(self._turns, random.Random(self.chain.settings.seed), self.chain.is_over)

    def _placed(self) -> Spin:
        """Place the most weight; return where all is, and the order of turns that led there."""
        choices, chain, tally = self._choices, self.chain, Tally("place")
        bounds, turns = Bounds(choices), self._turns
        spin = Spin(turns.in_line, {}, turns.nothing())
        turns.fill(spin.built)
        self._report("place, in line", spin.built, bounds, tally)
        is_near = bounds.is_near(spin.built.layout, chain.settings.gap)
        if not is_near and not chain.is_over():
            values = values_over_cells(bounds, spin.built.layout, chain, tally, is_brief=True)
            other = self._wheel.started(*_counted(choices, choices.started(values)))
            if Ledger(choices, other.built.layout).holds():
                turns.fill(other.built)
                spin = max(spin, other, key=standing)
            self._report("place, in turn", spin.built, bounds, tally)
            is_near = bounds.is_near(spin.built.layout, chain.settings.gap)
        if not is_near and not chain.is_over():
            is_near = self._is_proven(spin.built.layout, tally)
        tally.proven = is_near
        if not is_near:
            chain.cut = chain.cut or "deterministic_time"
        chain.stages.append(tally.stage())
        return spin

    def _is_proven(self, layout: Layout, tally: Tally) -> bool:
        """Whether the search for a bound over cells shows that a layout is within the gap."""
        gap = self.chain.settings.gap
        ceilings, above = Ceilings(self._choices, layout), dict[int, int]()
        limits = self.chain.limits("place", gap, tally.deterministic)
        each = replace(limits, deterministic=limits.deterministic * OF_CEILING)
        bounds: list[int] = []
        tiers = sorted({own.ask.priority for own in self._choices.classes}, reverse=True)
        for tier, own in zip(tiers, layout.weights(), strict=True):
            bounds.append(max(own, ceilings.bound(tier, above, each)))
            above[tier] = own
        tally.bound = min(tally.bound, sum(bounds))
        return are_near(layout.weights(), bounds, gap)

    def _report(self, title: str, built: Built, bounds: Bounds, tally: Tally) -> None:
        tally.objective = sum(built.layout.weights())
        tally.bound = sum(bounds.of(built.layout.started))
        starting = sum(map(sum, built.layout.started))
        self.chain.report(title, starting, tally.objective, tally.bound)

    def _inside_groups(self, built: Built) -> Layout:
        """Return the same layout over a grid in which runs have the options that they are on."""
        classes: list[RunClass] = [each for each in self.classes if not has_options(each)]
        chosen = {berth.option: berth for berth in built.berths}
        classes += [
            replace(berth.turn.each, ask=berth.ask, group=berth.group, option=number)
            for number, berth in enumerate(chosen.values())
        ]
        eligibility = self.options.eligibility
        return _over(Grid(classes, eligibility, eligibility.hosts), built)


def _over(grid: Grid, built: Built) -> Layout:
    """Return what was built as a layout over a grid that has its options."""
    places = {
        option_of(each, each.ask, each.group): index for index, each in enumerate(grid.classes)
    }
    layout = Layout(grid)
    for berth in built.berths:
        berth.seat(layout, places[berth.option])
    built.seat_singles(layout)
    return layout


def _counted(choices: Choices, started: Sequence[Sequence[int]]) -> tuple[Counts, Shapes]:
    """Return how many runs start of each turn, and in which shapes."""
    counts: dict[tuple[str, int], int] = {}
    shapes: dict[tuple[str, int], list[Ask]] = {}
    for each, own in zip(choices.classes, started, strict=True):
        for cohort, count in enumerate(own):
            key = (each.first, cohort)
            counts[key] = counts.get(key, 0) + count
            if each.option is not None:
                shapes.setdefault(key, []).extend([each.ask] * count)
    return counts, shapes


def _climbed(layout: Layout, options: Options, spent: float) -> Iterator[Stage]:
    """Yield the account of the rungs and the machines, with what each run could have at best alone
    as the bound; `spent` are the seconds that both took together."""
    least = [0, 0]
    for each, counts in zip(layout.grid.classes, layout.started, strict=True):
        runs = sum(counts)
        if each.option is not None and runs:
            ways = options.ways(each)
            least[0] += runs * min((rung_of(group) - 1 for _, group in ways), default=0)
            least[1] += runs * min(((ask.tasks or 1) - 1 for ask, _ in ways), default=0)
    rung, machines, _ = climbing.of_layout(layout)
    for name, value, bound in (("rung", rung, least[0]), ("machines", machines, least[1])):
        tally = Tally(name, value, min(value, bound), since=time.monotonic() - spent)
        spent = 0.0
        tally.proven = value == bound
        yield tally.stage()
