"""Bounds that need no search: what the free GPUs alone allow."""

from __future__ import annotations

from stowplan.solver.choices import Choices


def most_weight(choices: Choices, tier: int, gpus_gone: int = 0) -> int:
    """Return a bound on the weight that a tier places, where so many GPUs are gone already.

    The free GPUs go to the heaviest runs for their GPUs first, the last of them in part: no
    packing does better, whatever the machines. Runs without GPUs all count.
    """
    left = -gpus_gone
    left += sum(kind.free for host in choices.hosts for kind in choices.kinds(host))
    weight = 0
    asking: list[tuple[int, int, int]] = []
    for each in choices.classes:
        gpus = each.ask.all_gpus
        if each.ask.priority == tier and choices.starts(each):
            for cohort in each.cohorts:
                if gpus:
                    asking.append((cohort.weight, gpus, cohort.count))
                else:
                    weight += cohort.weight * cohort.count
    for own, gpus, count in sorted(asking, key=lambda each: each[0] / each[1], reverse=True):
        whole = min(count, left // gpus)
        weight += own * whole
        left -= gpus * whole
        if whole < count:
            return weight + own * left // gpus
    return weight
