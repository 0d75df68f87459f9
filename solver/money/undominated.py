"""Offerings that a run of several workers could need: those of which there aren't enough better.

A host is left out where hosts that are no worse in anything hold as many workers as could want
them: whoever would be on it can be on one of those, and nothing of the whole run gets worse.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stowplan.model.estimating.duration import Likely
from stowplan.model.estimating.together import Nodes
from stowplan.solver.asks import Ask
from stowplan.solver.money.prices import Bools, Ints, Prices

MOST = 400
"""Hosts that are kept at most: the cheapest by the hour."""


def undominated(
    prices: Prices,
    ask: Ask,
    hosts: Ints,
    nodes: Nodes,
    running: Likely | None,
    known: Ints,
    slots: Ints,
    workers: int,
) -> Bools:
    """Return which of the hosts are kept, where so many workers could want them."""
    figures = _figures(prices, ask, hosts, nodes, running)
    alike = np.vstack((known, prices.interruptible[hosts].astype(np.int64)))
    increments = nodes.tariffs.increment_s
    order = np.lexsort((hosts, *figures[::-1]))
    kept: list[int] = []
    found = np.zeros(len(hosts), np.bool_)
    for place in order.tolist():
        before = np.array(kept, np.int64)
        better = (figures[:, before] <= figures[:, [place]]).all(axis=0)
        better &= (alike[:, before] == alike[:, [place]]).all(axis=0)
        better &= (increments[:, [place]] % increments[:, before] == 0).all(axis=0)
        if int(slots[before[better]].sum()) < workers:
            kept.append(place)
            found[place] = True
            if len(kept) == MOST:
                break
    return found


def _figures(
    prices: Prices, ask: Ask, hosts: Ints, nodes: Nodes, running: Likely | None
) -> npt.NDArray[np.float64]:
    """Return all that counts of each host, the lower the better; the rate first."""
    tariffs = nodes.tariffs
    gpus = prices.gpus if ask.gpus else prices.millicores
    counts = nodes.counts(running) if running else np.zeros_like(nodes.start_s)
    single = (
        tariffs.rate,
        tariffs.ranked_rate,
        tariffs.tried / tariffs.started,
        -tariffs.paid_s,
        -prices.health[hosts],
        prices.failed_lately[hosts],
        ~prices.warm[hosts],
        gpus[hosts],
    )
    double = (
        nodes.start_s,
        -nodes.start_free,
        tariffs.teardown_s,
        tariffs.minimum_s,
        counts,
        nodes.again_s,
        nodes.again_s - nodes.again_free,
    )
    rows = [np.asarray(each, np.float64) for each in single]
    rows += [np.asarray(level, np.float64) for each in double for level in each]
    return np.vstack(rows)
