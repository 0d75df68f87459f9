"""The order of turns in which all start that are to, and on tight groups.

Whoever finds no room, or none on a tight group, has its turn earlier the next time: squeaky wheel
optimisation (Joslin and Clements, 1999). One try is a few milliseconds on a thousand hosts.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stowplan.solver.asks import Ask
from stowplan.solver.large.turns import Built, Standing, Turn, Turns

TRIES = 60
"""How often the hosts are filled anew until all start that are to; the last orders bring most."""
HOSTS = 1250
"""As often they are for tighter groups, where there are so many."""
FEWEST = 20
"""How often where there are more hosts, at least."""
MENDED = 4
"""How often an order is mended in which a run has had its turn earlier for a tighter group."""
FEW = 0.05
"""Runs of one worker that could be on no greater share of the hosts come before all others."""

type Counts = Mapping[tuple[str, int], int]
"""How many runs of each turn are to start, by its key."""
type Shapes = Mapping[tuple[str, int], Sequence[Ask]]


class Spin(NamedTuple):
    """An order of turns, in which shapes they are tried first, and what comes of it."""

    order: Sequence[Turn]
    shapes: Shapes
    built: Built


@dataclass
class Wheel:
    """Orders of turns, each made of one before."""

    turns: Turns
    draw: random.Random
    is_over: Callable[[], bool]

    def started(self, counts: Counts, shapes: Shapes) -> Spin:
        """Return the best found of orders in which so many runs start.

        Each in the best shape at its turn; should some find no room, also as `shapes` say first.
        """
        best = self._all_started(Spin(self._at_first(counts), {}, self.turns.nothing()), counts)
        if best.built.missing and shapes:
            first = Spin(self._at_first(counts), shapes, self.turns.nothing())
            best = max(best, self._all_started(first, counts), key=standing)
        return best

    def tighter(self, spin: Spin, counts: Counts) -> Built:
        """Return what comes of it when runs have their turn earlier for a tighter group: no fewer
        start."""
        best, order = spin.built, list(spin.order)
        order += [turn for turn in self.turns.in_line if turn not in set(order)]
        reached = best.standing()
        for _ in range(max(FEWEST, TRIES * HOSTS // max(HOSTS, self.turns.hosts))):
            lost = [(berth.turn, self.turns.lost(berth)) for berth in best.berths]
            loose = [(turn, much) for turn, much in lost if much > 0]
            if not loose or self.is_over():
                break
            (turn,) = self.draw.choices(*zip(*loose, strict=True))
            at = order.index(turn)
            tried = [*order[:at], *order[at + 1 :]]
            tried.insert(self.draw.randrange(at + 1), turn)
            for _ in range(MENDED):
                built = self.turns.built(tried, counts, spin.shapes)
                if (found := built.standing()) >= reached:
                    order, best, reached = tried, built, found
                    break
                if not built.missing or self.is_over():
                    break
                tried = _earlier(tried, built)
        return best

    def _at_first(self, counts: Counts) -> list[Turn]:
        """Return an order: those of one worker with few hosts, the largest of several, the rest."""

        def place(turn: Turn) -> tuple[int, ...]:
            ask, hosts = turn.each.ask, self.turns.hosts_of(turn)
            if turn.ways:
                return (1, -ask.priority, -ask.all_gpus, len(turn.ways))
            if hosts <= FEW * self.turns.hosts:
                return (0, -ask.gpus, hosts)
            return (2, -ask.gpus, hosts)

        return sorted((turn for turn in self.turns.in_line if counts.get(turn.key)), key=place)

    def _all_started(self, first: Spin, counts: Counts) -> Spin:
        """Return the best of some orders, the last of which is one in which all start."""
        best, order = first, first.order
        for _ in range(TRIES):
            spin = Spin(order, first.shapes, self.turns.built(order, counts, first.shapes))
            best = max(best, spin, key=standing)
            if not spin.built.missing or self.is_over():
                break
            order = _earlier(order, spin.built)
        return best


def standing(spin: Spin) -> Standing:
    """Return what makes one better than another."""
    return spin.built.standing()


def _earlier(order: Sequence[Turn], built: Built) -> list[Turn]:
    """Return an order in which those who found no room have their turn when half as many have had
    theirs."""

    def place(pair: tuple[int, Turn]) -> float:
        at, turn = pair
        return (at - 1) / 2 - 1 / 4 if turn.key in built.missing else at

    return [turn for _, turn in sorted(enumerate(order), key=place)]
