"""The whole model, host by host: each stage searched to its proof, all that is left still open.

A tier's weight is kept for those below by a row, so that among equal choices the one that leaves
them most is found; likewise the fewest GPUs at risk, and the most points.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from stowplan.solver import points
from stowplan.solver.bound import most_weight, weight
from stowplan.solver.chain import Chain, Tally
from stowplan.solver.choices import Choices
from stowplan.solver.greedy import fill, greedy
from stowplan.solver.layout import Layout
from stowplan.solver.program.linear import Goal, Row, total
from stowplan.solver.program.search import Found, Limits, search
from stowplan.solver.values import settle, values_of

CANONICAL = 1 << 10


@dataclass
class Whole:
    """Values of the variables as the stages improve them."""

    choices: Choices
    chain: Chain
    values: list[int]
    fixed: dict[int, int] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)

    @classmethod
    def solved(cls, choices: Choices, chain: Chain) -> Layout:
        """Return the layout after all stages."""
        most = tuple(
            most_weight(choices, tier)
            for tier in sorted({each.ask.priority for each in choices.classes}, reverse=True)
        )
        first = greedy(choices, lambda layout: layout.weights() == most)
        whole = cls(choices, chain, values_of(choices, first))
        whole.place()
        whole.spare_at_risk()
        whole.earn_points()
        whole.settle_ties()
        return whole.layout()

    def layout(self) -> Layout:
        """Return the layout that the values stand for."""
        layout = Layout(self.choices.grid)
        settle(self.choices, self.values, layout)
        return layout

    def place(self) -> None:
        """Place the most weight, tier after tier; one entry in the account for all tiers."""
        chain, choices = self.chain, self.choices
        chain.measure(choices.program)
        sum_of = Tally("place")
        for tier in sorted({each.ask.priority for each in choices.classes}, reverse=True):
            goal = Goal(weight(choices, tier), maximise=True)
            value, bound = goal.terms.at(self.values), most_weight(choices, tier)
            if value < bound and chain.is_over():
                sum_of.proven = False
            elif value < bound:
                limits = chain.limits("place", chain.settings.gap, sum_of.deterministic)
                found = self._improve(f"place, priority {tier}", goal, limits, bound)
                sum_of.add(found)
                self._make_room_for_more()
                value, bound = goal.terms.at(self.values), found.bound
            sum_of.objective += value
            sum_of.bound += bound
            if goal.terms:
                self.rows.append(goal.terms >= value)
        chain.stages.append(sum_of.stage())

    def spare_at_risk(self) -> None:
        """Give out the fewest GPUs at risk; other runs of the same weight may start instead."""
        goal = Goal(self.choices.at_risk_taken(), maximise=False)
        self._finish("at_risk", goal, 0)
        self.fixed = self.choices.fixed(self.choices.started(self.values))
        if goal.terms:
            self.rows.append(goal.terms <= goal.terms.at(self.values))

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
        """Let ties fall by a hash of run and host, so that equal inputs give equal answers."""
        choices = self.choices
        ranks = total(
            choices.workers_in(each, cell) * _rank(each.classes[0].name, choices.host_of(cell).name)
            for each in choices.signatures
            for cell in choices.cells_for(each)
        )
        self._finish("canonical", Goal(ranks, maximise=False), 0)

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
        chain.stages.append(tally.stage())

    def _improve(self, title: str, goal: Goal, limits: Limits, trivial: int) -> Found:
        """Search for a better value of a goal, and take it."""
        chain = self.chain
        found = search(
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
        for index, started in enumerate(layout.started):
            layout.start_oldest(index, sum(started))
        fill(self.choices, layout)
        self.values = values_of(self.choices, layout)


def _rank(run: str, host: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{run}\0{host}".encode()).digest()[:4]) % CANONICAL
