"""Other sets of hosts on which a whole run that is bought would fit, with the rest fixed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from stowplan.solver.asks import RunClass
from stowplan.solver.decode import Seat
from stowplan.solver.explain.standing import Standing
from stowplan.solver.money.caps import best_set


def other_sets(standing: Standing, seats: Sequence[Seat]) -> list[str]:
    """Return the best set of each option that the run has, but for its own; the best first."""
    situation, own = standing.situation, standing.each
    there = Counter(seat.host.place for seat in seats)
    found: dict[str, tuple[int, int, str]] = {}
    for each in situation.grid.classes:
        if (each.first, each.copy) == (own.first, own.copy):
            for rank, name in _sets(standing, each, there):
                found[name] = min((*rank, name), found.get(name, (*rank, name)))
    hosts = situation.hosts
    taken = sorted(hosts[place].name for place, count in there.items() for _ in range(count))
    return [name for *_, name in sorted(found.values()) if name != "+".join(taken)]


def _sets(
    standing: Standing, each: RunClass, there: Counter[int]
) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the best set of an option with what is left, and how good it is."""
    situation, deal = standing.situation, each.deal
    slots = standing.rooms.slots(each.ask)
    if deal is None or deal.appraisal is None or deal.appraisal.of_run is None:
        return
    given_back = np.array([there[place] for place in deal.hosts.tolist()], np.int64)
    most = np.minimum(deal.most, slots[deal.hosts] + given_back)
    chosen = best_set(replace(deal, most=most), deal.appraisal.regret, deal.caps)
    if chosen is None:
        return
    workers = [(int(deal.hosts[at]), int(chosen[at])) for at in np.nonzero(chosen)[0]]
    names = sorted(situation.hosts[place].name for place, n in workers for _ in range(n))
    rank = (int(deal.appraisal.tier[0]), deal.appraisal.measure_of_run(workers))
    yield rank, "+".join(names)
