"""Large neighbourhoods: solve again for a few hosts at a time, all others as they are.

For objectives that the whole model is too large to search: CP-SAT finds the best for a few hosts
in a fraction of a second. Which hosts are taken together is drawn with the seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from stowplan.solver import climbing, points
from stowplan.solver.bound import weight
from stowplan.solver.cells import apart, signatures
from stowplan.solver.chain import Chain, Tally
from stowplan.solver.choices import Choices
from stowplan.solver.large.draws import idle, in_turn, spare, wanted
from stowplan.solver.layout import Layout
from stowplan.solver.limits import Limits as Shared
from stowplan.solver.money.bands import rows
from stowplan.solver.money.profiles import regret, summed, wishes
from stowplan.solver.program.linear import ZERO, Goal, Sum
from stowplan.solver.program.search import Found, search
from stowplan.solver.values import settle, values_of

EACH = 0.02
"""Deterministic time for one neighbourhood."""
EACH_TO_START = 0.05
"""The same where more runs are to start: that is harder."""


JOINING = 24
"""How many classes of which runs wait may join in one neighbourhood."""
BUILT = 0.01
"""Deterministic time that building a neighbourhood counts as: about as long as it takes."""
MOST = 2**50
"""Objectives stay below it: no sum of theirs overflows."""


class Gain(NamedTuple):
    """What a neighbourhood brought."""

    amount: int
    """By how much its objective is better."""
    found: Found
    is_whole: bool
    """Whether nothing was left out: what is proven of it holds for the whole layout."""


class Neighbourhoods:
    """A layout, improved a few hosts at a time, in one stage."""

    def __init__(self, name: str, layout: Layout, shared: Shared, chain: Chain, tally: Tally):
        """Start from a layout, which is changed in place; the tally counts what is spent."""
        self.layout = layout
        self.hosts = layout.grid.used
        self.draw = random.Random(chain.settings.seed)
        self._shared, self._chain, self._tally = shared, chain, tally
        limits = chain.limits(name, chain.settings.gap, tally.deterministic)
        self._until = tally.deterministic + limits.deterministic
        self._limits = limits
        self._signature = {each.members[0]: each for each in signatures(layout.grid)}

    def start_more(self) -> Iterator[Gain]:
        """Start more weight, tier before tier: where there is most to spare, and where a class
        that waits could be."""
        layout = self.layout
        while self._goes_on():
            waiting = [index for index in self._signature if layout.waiting(index)]
            drawn = self.draw.sample(waiting, min(JOINING, len(waiting)))
            first = layout.grid.where[drawn[0]].tolist() if drawn else self.hosts
            group = wanted(
                self.hosts, idle(layout, self.hosts), first, spare(layout, first), self.draw
            )
            gain = self._solve(group, _weights, True, drawn, deterministic=EACH_TO_START)
            yield gain._replace(is_whole=gain.is_whole and len(drawn) == len(waiting))

    def spare_at_risk(self) -> Iterator[Gain]:
        """Give out fewer GPUs at risk, for the same runs, where hosts take most of them."""
        while self._goes_on():
            sound = self.layout.sound[self.hosts].astype(np.float64)
            group = wanted(self.hosts, (-sound).clip(0), self.hosts, sound.clip(0), self.draw)
            yield self._solve(group, Choices.at_risk_taken, False)

    def lower_regret(self) -> Iterator[Gain]:
        """Lower the regret, for the same runs and no fewer wishes, where there is most of it."""
        grid = self.layout.grid
        by_class = [regret(grid, index) for index in range(len(grid.classes))]
        place = {host: at for at, host in enumerate(self.hosts)}
        while self._goes_on():
            amounts = np.zeros(len(self.hosts))
            by_host = self.layout.by_host()
            suffering: dict[int, float] = {}
            for host, there in enumerate(by_host):
                for index, workers in there:
                    each = grid.appraisals[index]
                    if each is not None:
                        own = float(by_class[index][each.at(host)]) * workers
                        amounts[place[host]] += own
                        suffering[index] = suffering.get(index, 0.0) + own
            if not amounts.any():
                return
            drawn = self.draw.choices(list(suffering), list(suffering.values()))[0]
            better = grid.where[drawn]
            low = 1 / (1.0 + by_class[drawn] / max(1.0, float(by_class[drawn].mean())))
            group = wanted(self.hosts, amounts / amounts.max(), better.tolist(), low, self.draw)
            yield self._solve(
                group,
                lambda choices: summed(choices, regret),
                False,
                keep=(lambda choices: summed(choices, wishes) * -1,),
            )

    def leave_domains(self) -> Iterator[Gain]:
        """Leave less room in the NVLink domains of single workers, for no more GPUs at risk: where
        most is left, and on hosts in no domain or in fuller ones."""
        ladder = self.layout.grid.eligibility.ladder
        rooms = np.maximum(0, ladder.room_of_one[self.hosts]).astype(np.float64)
        rooms /= max(1.0, rooms.max(initial=0.0))
        while self._goes_on():
            there = [sum(self.layout.there[host].values()) for host in self.hosts]
            group = wanted(
                self.hosts, rooms * np.minimum(there, 1), self.hosts, 1 - rooms, self.draw
            )
            yield self._solve(group, climbing.room, False, keep=(Choices.at_risk_taken,))

    def earn_points(self) -> Iterator[Gain]:
        """Earn more points, for the same runs, no more GPUs at risk and no more room left in NVLink
        domains, on all hosts in turn."""
        turns = in_turn(self.hosts, self.layout.grid, self.draw)
        kept = (Choices.at_risk_taken, climbing.room)
        while self._goes_on():
            yield self._solve(next(turns), points.objective, True, keep=kept)

    def _goes_on(self) -> bool:
        """Whether there are hosts, and some of the stage's share of time; else says what ended."""
        if not self.hosts or self._chain.is_over():
            return False
        if self._tally.deterministic >= self._until:
            self._chain.cut = self._chain.cut or "deterministic_time"
            return False
        return True

    def _solve(
        self,
        hosts: Sequence[int],
        terms_of: Callable[[Choices], Sum],
        maximise: bool,
        joining: Collection[int] | None = None,
        keep: Sequence[Callable[[Choices], Sum]] = (),
        deterministic: float = EACH,
    ) -> Gain:
        """Solve for these hosts, and take what is found.

        Without `joining`, as many runs of each class start as before; nothing that `keep` gives
        rises.
        """
        layout = self.layout
        members = {index for host in hosts for index, _ in layout.on(host)} | set(joining or ())
        choices = Choices(
            layout.grid,
            self._shared,
            apart(layout.grid, hosts),
            [self._signature[index] for index in sorted(members)],
            others=layout,
            joining=() if joining is None else members,
        )
        goal = Goal(terms_of(choices), maximise)
        # A share of a sum in which the highest tier counts a million times is no measure.
        gap = self._limits.gap if joining is None else 0.0
        hint = values_of(choices, layout)
        kept = [each(choices) for each in keep]
        also = [each <= each.at(hint) for each in kept if each.terms]
        also += rows(choices, layout.references) if any(layout.references) else []
        found = search(
            choices.program,
            goal,
            hint,
            replace(self._limits, deterministic=deterministic, gap=gap),
            trivial=choices.program.range(goal.terms)[maximise],
            also=also,
            interrupt=self._chain.interrupt,
        )
        before = layout.weights()
        settle(choices, found.values, layout)
        for index in members if joining is not None else ():
            if layout.grid.classes[index].option is None:
                layout.start_oldest(index, sum(layout.started[index]))
        if layout.weights() < before:
            settle(choices, hint, layout)
            found = replace(found, values=hint, objective=goal.terms.at(hint), status="FEASIBLE")
        self._tally.spend(found, BUILT)
        amount = abs(found.objective - goal.terms.at(hint))
        starting = set().union(*(choices.starts(each).terms for each in choices.classes))
        counted = joining is None or starting <= goal.terms.terms.keys()
        return Gain(amount, found, is_whole=counted and len(hosts) == len(self.hosts))


def _weights(choices: Choices) -> Sum:
    """Return the weight that starts, a higher tier's worth more than all below it together."""
    tiers = {each.ask.priority for own in choices.signatures for each in own.classes}
    goal, unit = ZERO, 1
    for tier in sorted(tiers):
        own = weight(choices, tier)
        if unit * choices.program.range(own)[1] >= MOST:
            goal, unit = ZERO, 1  # the tiers below can't be told apart beside it: they don't count
        goal += own * unit
        unit *= 1 + _most_to_gain(choices, tier)
    return goal


def _most_to_gain(choices: Choices, tier: int) -> int:
    """Return by how much two answers for these hosts can differ in a tier's weight at most."""
    gpus = sum(int(choices.grid.usable_gpus[cell.hosts].sum()) for cell in choices.cells)
    with_gpus = without = 0
    for own in choices.signatures:
        for each in own.classes:
            if each.ask.priority == tier:
                heaviest = max(cohort.weight for cohort in each.cohorts)
                if each.ask.gpus:
                    with_gpus = max(with_gpus, -(-heaviest * gpus // each.ask.all_gpus))
                else:
                    inside = (choices.workers_in(own, cell) for cell in choices.cells_for(own))
                    workers = sum(choices.program.range(there)[1] for there in inside)
                    without += heaviest * min(each.count, workers)
    return with_gpus + without
