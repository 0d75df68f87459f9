"""Online baselines on whole GPUs, one run after the other: First-Fit, BestFit, FGD.

Written from the definitions of the FGD paper (Weng et al., ATC'23): a node's fragmentation is the
GPUs that the typical runs can't use there, by their popularity.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tests.bench.instances.openb import Node, Pod

TYPICAL = 0.95
"""The typical runs are the most popular kinds that make up this share."""
MOST_CORES, MOST_GPUS = 128_000, 8


@dataclass
class Free:
    """What is left on a node."""

    node: Node
    millicores: int
    memory_mib: int
    gpus: int

    def takes(self, pod: Pod) -> bool:
        """Whether the run fits."""
        return (
            pod.millicores <= self.millicores
            and pod.memory_mib <= self.memory_mib
            and pod.gpus <= self.gpus
            and (not pod.models or self.node.model in pod.models)
        )


type Score = Callable[[Free, Pod], float]
"""How good a node is for a run; the first of the best takes it."""


def first_fit(free: Free, pod: Pod) -> float:
    """Return the same for all: the lowest index wins."""
    return 0


def best_fit(free: Free, pod: Pod) -> float:
    """Return how little is left: half by cores, half by GPUs."""
    cores = (free.millicores - pod.millicores) / MOST_CORES
    return math.floor((1 - 0.5 * cores - 0.5 * (free.gpus - pod.gpus) / MOST_GPUS) * 100)


def fgd(population: Sequence[Pod]) -> Score:
    """Return the score of fragmentation gradient descent, for runs drawn from this population."""
    kinds: list[tuple[tuple[int, int, tuple[str, ...]], int]] = []
    seen = 0
    for shape, count in Counter(
        (pod.millicores, pod.gpus, pod.models) for pod in population
    ).most_common():
        if seen >= TYPICAL * len(population):
            break
        kinds.append((shape, count))
        seen += count

    def fragmented(node: Node, millicores: int, gpus: int) -> float:
        unusable = 0.0
        for (cores, wanted, models), count in kinds:
            fits = 0 < wanted <= gpus and cores <= millicores
            if not (fits and (not models or node.model in models)):
                unusable += gpus * count / len(population)
        return unusable

    cache: dict[tuple[str, int, int], float] = {}

    def known(node: Node, millicores: int, gpus: int) -> float:
        key = (node.model, millicores, gpus)
        if key not in cache:
            cache[key] = fragmented(node, millicores, gpus)
        return cache[key]

    def score(free: Free, pod: Pod) -> float:
        before = known(free.node, free.millicores, free.gpus)
        after = known(free.node, free.millicores - pod.millicores, free.gpus - pod.gpus)
        return math.floor(100 / (1 + math.exp(-(before - after))))

    return score


def placements(
    machines: Sequence[Node], runs: Sequence[Pod], score: Score
) -> Iterator[tuple[Pod, str | None]]:
    """Yield each run with the node an online policy gives it, the runs coming in this order."""
    room = [Free(node, node.millicores, node.memory_mib, node.gpus) for node in machines]
    for pod in runs:
        fitting = [free for free in room if free.takes(pod)]
        if not fitting:
            yield pod, None
            continue
        chosen = max(fitting, key=lambda free: score(free, pod))
        chosen.millicores -= pod.millicores
        chosen.memory_mib -= pod.memory_mib
        chosen.gpus -= pod.gpus
        yield pod, chosen.node.name


def gpus_placed(machines: Sequence[Node], runs: Sequence[Pod], score: Score) -> int:
    """Return how many GPUs an online policy places, the runs coming in this order."""
    return sum(pod.gpus for pod, node in placements(machines, runs, score) if node is not None)
