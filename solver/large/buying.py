"""Runs of several workers that wait after all else are bought, in line, where too many sets of
instances were open to search them together.

Each takes the best set that is left it. On a large fleet no set is searched before, so that nothing
is bought for a run that machines have room for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from stowplan.solver.asks import Cohort, RunClass, queue_order
from stowplan.solver.chain import Chain, restated
from stowplan.solver.greedy import fullest_first, start
from stowplan.solver.grid import Grid
from stowplan.solver.large.valuewise import total_of
from stowplan.solver.layout import Layout
from stowplan.solver.limits import Limits
from stowplan.solver.money.bands import standings
from stowplan.solver.money.bids import Bidding
from stowplan.solver.money.contest import Contest
from stowplan.solver.money.profiles import regret, regret_of_run
from stowplan.solver.options import Options, has_options


@dataclass
class Buying:
    """A layout, and the runs of several workers that wait beside it."""

    classes: Sequence[RunClass]
    options: Options
    limits: Limits
    chain: Chain
    layout: Layout
    grid: Grid
    """The grid of the options chosen so far, on all their hosts."""
    known: Mapping[str, Bidding] = field(default_factory=dict)
    """What is open to runs of several workers, where that was looked at, by their first."""

    def done(self) -> tuple[Layout, Grid]:
        """Return the layout with all that could be bought, and the grid with their options."""
        found = list(self._options())
        first = len(self.grid.classes)
        layout, grid = self.layout, self.grid
        if found:
            eligibility = self.options.eligibility
            grid = Grid([*grid.classes, *found], eligibility, eligibility.hosts)
            layout = layout.widened(grid)
            left = dict(self._quota_left)
            for cohort, own in self._in_line(grid, first):
                self._buy(layout, cohort, own, left)
            layout.references = [*self.layout.references, *standings(layout)[first:]]
        self._tell(layout, first)
        return layout, grid

    def _options(self) -> Iterator[RunClass]:
        """Yield the sets of instances on which each class that waits could be, the best first."""
        eligibility = self.options.eligibility
        if self.limits.neighbours_in_line or not eligibility.prices.offered.any():
            return  # whoever is bought would let those behind it start as well
        numbers: dict[str, int] = {}
        for each in self.grid.classes:
            if each.option is not None:
                numbers[each.first] = max(numbers.get(each.first, 0), each.option + 1)
        for each in self.classes:
            if not has_options(each) or eligibility.prices.of(each.ask) is None:
                continue
            if not any(self._waiting(each, cohort) for cohort in each.cohorts):
                continue
            known = self.known.get(each.first) or Bidding(Contest(self.options, each))
            for own in known.every:
                if own.group is not None and own.group.is_bought:
                    number = numbers.get(each.first, 0)
                    numbers[each.first] = number + 1
                    yield replace(own, option=number)

    @cached_property
    def _started(self) -> dict[int, int]:
        """How many runs of each cohort start, by its id."""
        found: dict[int, int] = {}
        for each, counts in zip(self.grid.classes, self.layout.started, strict=True):
            for cohort, count in zip(each.cohorts, counts, strict=True):
                found[id(cohort)] = found.get(id(cohort), 0) + count
        return found

    def _waiting(self, each: RunClass, cohort: Cohort) -> int:
        """Return how many runs of a cohort wait."""
        return cohort.count - self._started.get(id(cohort), 0)

    @property
    def _quota_left(self) -> dict[str, int]:
        return dict(replace(self.limits, settled=self._started).quota_left)

    def _in_line(self, grid: Grid, first: int) -> Iterator[tuple[int, Sequence[int]]]:
        """Yield the number of each cohort that waits and the places of its options, in line."""
        own: dict[str, list[int]] = {}
        for index in range(first, len(grid.classes)):
            own.setdefault(grid.classes[index].first, []).append(index)
        snapshot = self.limits.snapshot
        line = [
            (queue_order(cohort.runs[0], snapshot), number, indices)
            for indices in own.values()
            for number, cohort in enumerate(grid.classes[indices[0]].cohorts)
        ]
        for _, number, indices in sorted(line, key=lambda each: each[0]):
            yield number, indices

    def _buy(
        self, layout: Layout, number: int, options: Sequence[int], left: dict[str, int]
    ) -> None:
        """Start the runs of a cohort that wait, each on the best set that is left."""
        each = layout.grid.classes[options[0]]
        for _ in range(self._waiting(each, each.cohorts[number])):
            if self.chain.interrupt.asked or left.get(each.ask.workspace, each.ask.all_gpus) < (
                each.ask.all_gpus
            ):
                return
            for index in options:
                own = layout.grid.classes[index]
                is_taken = own.copy is not None and any(layout.started[index])
                if not is_taken and start(layout, index, number, 1, fullest_first):
                    if each.ask.workspace in left:
                        left[each.ask.workspace] -= each.ask.all_gpus
                    break
            else:
                return

    def _tell(self, layout: Layout, first: int) -> None:
        """Add what is bought to the account of place and of value; had all been bought that wait,
        no more could start."""
        bought = most = 0
        worth = total_of(layout, regret) - total_of(self.layout, regret)
        for each in self.classes:
            if has_options(each) and self.options.eligibility.prices.of(each.ask) is not None:
                most += sum(self._waiting(each, own) * own.weight for own in each.cohorts)
        for index in range(first, len(layout.grid.classes)):
            each, counts = layout.grid.classes[index], layout.started[index]
            bought += sum(
                own.weight * count for own, count in zip(each.cohorts, counts, strict=True)
            )
            appraisal = layout.grid.appraisals[index]
            if appraisal is not None:
                worth += sum(counts) * (appraisal.least + regret_of_run(layout.grid, index))
        stages = self.chain.stages
        for at, stage in enumerate(stages):
            if stage.name == "place":
                stages[at] = restated(stage, stage.objective + bought, stage.bound + most)
            elif stage.name == "value":
                least = min(stage.bound, at_best(self.layout))
                stages[at] = restated(stage, stage.objective + worth, least)


def at_best(layout: Layout) -> int:
    """Return what all that starts would be worth on the best hosts there are; of runs of several
    workers only where that is known of them as wholes."""
    least = 0
    for each, counts, appraisal in zip(
        layout.grid.classes, layout.started, layout.grid.appraisals, strict=True
    ):
        if appraisal is not None and each.deal is not None:
            least += sum(counts) * appraisal.least
        elif appraisal is not None and each.option is None:
            least += sum(counts) * (each.ask.tasks or 0) * appraisal.least
    return least
