"""The whole model, host by host: each stage searched to its proof, all that is left still open.

A tier's weight is kept for those below by a row, so that among equal choices the one that leaves
them most is found; likewise the fewest GPUs at risk, and the most points.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from stowplan.solver import climbing, points, ties
from stowplan.solver.bound import most_weight, weight
from stowplan.solver.cells import Signature, apart, signatures
from stowplan.solver.chain import Chain, Tally, restated
from stowplan.solver.choices import Choices
from stowplan.solver.greedy import fill, greedy
from stowplan.solver.hosts import Host
from stowplan.solver.large.bounds import OF_CEILING, Ceilings, Lead
from stowplan.solver.layout import Layout, References
from stowplan.solver.money.bands import banded, rows, standings
from stowplan.solver.money.profiles import (
    FAILED,
    OWN,
    Preference,
    even_level,
    excess,
    excess_of_run,
    most_wishes,
    regret,
    regret_of_run,
    steps_up,
    summed,
    trivial,
    wishes,
    wishes_of_run,
    worth_at_best,
)
from stowplan.solver.program.linear import ZERO, Goal, Row, Sum, total
from stowplan.solver.program.search import Found, Limits
from stowplan.solver.program.steps import search_in_steps
from stowplan.solver.values import settle, values_of


@dataclass
class Whole:
    """Values of the variables as the stages improve them."""

    choices: Choices
    chain: Chain
    values: list[int]
    fixed: dict[int, int] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    references: References = ()
    ceilings: Ceilings | None = None
    """Bounds on what starts, where it was looked for with hosts taken together."""
    told: list[tuple[int, Goal]] = field(default_factory=list)
    """The stages in the account, by their place, and what each of them wanted."""

    @classmethod
    def solved(cls, choices: Choices, chain: Chain, lead: Lead | None = None) -> Layout:
        """Return the layout after all stages; `lead` is what was found before.

        Where hosts cost something, the value stage comes next to place; what is placed is settled
        with it.
        """
        most = tuple(
            most_weight(choices, tier)
            for tier in sorted({each.ask.priority for each in choices.classes}, reverse=True)
        )
        first = greedy(choices, lambda layout: layout.weights() == most)
        if lead is not None and lead.layout.weights() >= first.weights():
            first = lead.layout.over(choices.grid)
        whole = cls(choices, chain, values_of(choices, first))
        whole.ceilings = None if lead is None else lead.ceilings
        whole.place()
        is_priced = any(each is not None for each in choices.grid.appraisals)
        if is_priced:
            whole.settle_value()
            whole = whole.within_bands()
        whole.spare_at_risk()
        if is_priced:
            whole.suit(FAILED)
        whole.climb()
        whole.earn_points()
        if is_priced:
            whole.suit_at_last()
        whole.settle_ties()
        whole.tell_at_last()
        return whole.layout()

    @classmethod
    def suited(cls, choices: Choices, chain: Chain, layout: Layout) -> Layout:
        """Return a layout in which those hosts alone that choices are of are chosen by what
        comes last."""
        whole = cls(choices, chain, values_of(choices, layout), references=layout.references)
        whole.rows = list(rows(choices, layout.references))
        whole._settle_starts(layout.started)
        whole.suit(FAILED)
        whole.suit_at_last()
        return whole.layout()

    def suit_at_last(self) -> None:
        """Spread runs alike over offerings, then choose as each profile prefers."""
        self.spread()
        for preference in OWN:
            self.suit(preference)

    def layout(self) -> Layout:
        """Return the layout that the values stand for."""
        others = self.choices.others
        layout = others.copy() if others else Layout(self.choices.grid)
        settle(self.choices, self.values, layout)
        layout.references = self.references or layout.references
        return layout

    def place(self) -> None:
        """Place the most weight, tier after tier; one entry in the account for all tiers."""
        chain, choices = self.chain, self.choices
        chain.measure(choices.program)
        sum_of, above = Tally("place"), dict[int, int]()
        for tier in sorted({each.ask.priority for each in choices.classes}, reverse=True):
            goal = Goal(weight(choices, tier), maximise=True)
            value, bound = goal.terms.at(self.values), most_weight(choices, tier)
            if value < bound and self.ceilings is not None and not chain.is_over():
                limits = chain.limits("place", 0, sum_of.deterministic)
                brief = replace(limits, deterministic=limits.deterministic * OF_CEILING)
                bound = min(bound, self.ceilings.bound(tier, above, brief))
            if value < bound and chain.is_over():
                sum_of.proven = False
            elif value < bound:
                limits = chain.limits("place", chain.settings.gap, sum_of.deterministic)
                found = self._improve(f"place, priority {tier}", goal, limits, bound)
                sum_of.add(found)
                self._make_room_for_more()
                value, bound = goal.terms.at(self.values), found.bound
            above[tier] = value
            sum_of.objective += value
            sum_of.bound += bound
            if goal.terms:
                self.rows.append(goal.terms >= value)
        chain.stages.append(sum_of.stage())

    def settle_value(self) -> None:
        """Meet the most wishes, then have the least regret: what each run is left is its reference.

        One entry in the account. Its gap is that of all that is spent, not of the regret alone.
        """
        chain, choices = self.chain, self.choices
        sum_of = Tally("value")
        wish = Goal(summed(choices, wishes, wishes_of_run), True)
        self._settle("value, wishes", wish, most_wishes(choices), 0, sum_of)
        goal = Goal(summed(choices, regret, regret_of_run), maximise=False)
        now = max(1, goal.terms.at(self.values))
        gap = min(1.0, chain.settings.gap * (worth_at_best(choices, self.values) + now) / now)
        bound = self._settle("value", goal, 0, gap, sum_of)
        self._settle(
            "value, ties", Goal(summed(choices, excess, excess_of_run), False), 0, 0, sum_of
        )
        spent = worth_at_best(choices, self.values)  # of the runs that start now
        sum_of.objective, sum_of.bound = spent + goal.terms.at(self.values), spent + bound
        chain.stages.append(sum_of.stage())

    def _settle(self, title: str, goal: Goal, trivial: int, gap: float, sum_of: Tally) -> int:
        """Search for a goal's best, and keep it from here on; return the bound."""
        value = goal.terms.at(self.values)
        bound = trivial
        if value != trivial and self.chain.is_over():
            sum_of.proven = False
        elif value != trivial:
            limits = self.chain.limits("value", gap, sum_of.deterministic)
            found = self._improve(title, goal, limits, trivial)
            sum_of.add(found)
            value, bound = found.objective, found.bound
        if goal.terms:
            self.rows.append(goal.terms >= value if goal.maximise else goal.terms <= value)
        return bound

    def within_bands(self) -> Whole:
        """Return the same runs on the same hosts, with the choice that their bands leave."""
        layout, limits = self.layout(), self.choices.limits
        references = standings(layout)
        grid = banded(self.choices.grid, references)
        choices = Choices(grid, limits, apart(grid, grid.used), signatures(grid))
        whole = Whole(choices, self.chain, values_of(choices, layout.over(grid)))
        whole.rows = list(rows(choices, references))
        whole._settle_starts(layout.started)
        whole.references = references
        return whole

    def suit(self, preference: Preference) -> None:
        """Have the best sum of a figure, and keep it."""
        name, figure, maximise = preference.name, preference.figure, preference.maximise
        goal = Goal(summed(self.choices, figure, preference.of_run), maximise)
        if not goal.terms:
            return
        bound = trivial(self.choices, figure, self.values, preference.of_run, maximise=maximise)
        self._finish(name, goal, bound)
        value = goal.terms.at(self.values)
        self.rows.append(goal.terms >= value if maximise else goal.terms <= value)

    def spread(self) -> None:
        """Spread runs that ask the same evenly over offerings: the least sum of squares.

        Warm instances count with the others of their offering.
        """
        choices = self.choices
        squares: list[Sum] = []
        for each in choices.signatures:
            if each.classes[0].deal is not None:
                continue
            workers_on: dict[str, Sum] = {}
            for cell in choices.cells_for(each):
                if (offering := choices.host_of(cell).offering) is not None:
                    there = workers_on.get(offering.name, ZERO)
                    workers_on[offering.name] = there + choices.workers_in(each, cell)
            if len(workers_on) < 2 or choices.workers_started(each).at(self.values) < 2:
                continue
            most = [choices.program.range(workers)[1] for workers in workers_on.values()]
            level = even_level(most, choices.workers_started(each).at(self.values))
            for workers, upper in zip(workers_on.values(), most, strict=True):
                parts, left = [], workers.at(self.values)
                for size, cost in steps_up(upper, level):
                    parts.append(choices.program.variable(size))
                    squares.append(parts[-1] * cost)
                    self.values.append(min(size, left))
                    left -= self.values[-1]
                self.rows.append(total(parts).equals(workers))
        goal = Goal(total(squares), maximise=False)
        if goal.terms:
            self._finish("spread", goal, 0)
            self.rows.append(goal.terms <= goal.terms.at(self.values))

    def spare_at_risk(self) -> None:
        """Give out the fewest GPUs at risk; other runs of the same weight may start instead."""
        goal = Goal(self.choices.at_risk_taken(), maximise=False)
        self._finish("at_risk", goal, 0)
        self._settle_starts(self.choices.started(self.values))
        if goal.terms:
            self.rows.append(goal.terms <= goal.terms.at(self.values))

    def _settle_starts(self, started: Sequence[Sequence[int]]) -> None:
        """Start as many runs as do; which option they take stays open."""
        self.fixed = self.choices.fixed(started)
        self.rows.extend(self.choices.settled(started))

    def climb(self) -> None:
        """Have runs of several workers on the tightest rungs, on the fewest machines, and leave the
        least room in the groups that they are in."""
        for name, terms, least in climbing.goals(self.choices):
            goal = Goal(terms, maximise=False)
            if not (terms.terms and self.choices.program.range(terms)[1] > least):
                continue
            self._finish(name, goal, least)
            self.rows.append(terms <= terms.at(self.values))

    def earn_points(self) -> None:
        """Earn the most points, over all placed workers."""
        choices = self.choices
        started = {each.name: choices.starts(each).at(self.values) for each in choices.classes}
        goal = Goal(points.objective(choices), maximise=True)
        self.values = choices.program.completed(self.values)
        self.chain.measure(choices.program)
        self._finish("points", goal, points.most(choices.grid, started))
        if goal.terms:
            self.rows.append(goal.terms >= goal.terms.at(self.values))

    def settle_ties(self) -> None:
        """Let ties fall as `solver.ties` says, so that equal inputs give equal answers."""
        self._settle_tie("holes", lambda each, host: ties.hole(each.ask, host))
        self._settle_tie("canonical", lambda each, host: ties.rank(each.classes[0].name, host.name))

    def tell_at_last(self) -> None:
        """Tell in the account what the stages come to at last: one that ended within the gap may be
        bettered by those after it."""
        stages = self.chain.stages
        for at, goal in self.told:
            stages[at] = restated(stages[at], goal.terms.at(self.values), stages[at].bound)

    def _settle_tie(self, name: str, figure: Callable[[Signature, Host], int]) -> None:
        """Have the least sum over all workers of a figure that they have on their host."""
        choices = self.choices
        terms = total(
            choices.workers_in(each, cell) * figure(each, choices.host_of(cell))
            for each in choices.signatures
            for cell in choices.cells_for(each)
        )
        self._finish(name, Goal(terms, maximise=False), 0)
        if terms.terms:
            self.rows.append(terms <= terms.at(self.values))

    def _finish(self, name: str, goal: Goal, trivial: int) -> None:
        """Search for a goal's best, unless it is at a known bound already."""
        chain = self.chain
        value = goal.terms.at(self.values)
        tally = Tally(name, value, trivial)
        if value != trivial and goal.terms and chain.is_over():
            tally.proven = False
        elif value != trivial and goal.terms:
            limits = chain.limits(name, 0 if name != "points" else chain.settings.gap)
            found = self._improve(name, goal, limits, trivial)
            tally.add(found)
            tally.objective, tally.bound = found.objective, found.bound
        elif not goal.terms:
            tally.bound = value
        self.told.append((len(chain.stages), goal))
        chain.stages.append(tally.stage())

    def _improve(self, title: str, goal: Goal, limits: Limits, trivial: int) -> Found:
        """Search for a better value of a goal, and take it."""
        chain = self.chain
        found = search_in_steps(
            self.choices.program,
            goal,
            self.values,
            limits,
            trivial=trivial,
            fixed=self.fixed,
            also=self.rows,
            interrupt=chain.interrupt,
        )
        chain.logs.append(f"#### {title}\n{found.log}")
        chain.cut = found.cut or chain.cut
        self.values = found.values
        starting = sum(self.choices.starts(each).at(self.values) for each in self.choices.classes)
        chain.report(title, starting, found.objective, found.bound)
        return found

    def _make_room_for_more(self) -> None:
        """Start the oldest of each class, and every further run that still fits."""
        layout = self.layout()
        layout.start_the_oldest()
        fill(self.choices, layout)
        self.values = values_of(self.choices, layout)
