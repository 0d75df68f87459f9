"""What a tier weighs, and a bound on it that needs no search: what the free GPUs alone allow."""

from __future__ import annotations

from stowplan.solver.choices import Choices
from stowplan.solver.program.linear import Sum, total


def weight(choices: Choices, tier: int) -> Sum:
    """Return the weight of the runs of a tier that start."""
    return total(
        choices.starting(each, index) * cohort.weight
        for each in choices.classes
        if each.ask.priority == tier
        for index, cohort in enumerate(each.cohorts)
    )


def most_weight(choices: Choices, tier: int) -> int:
    """Return a bound on the weight that a tier places.

    The free GPUs go to the heaviest runs for their GPUs first, the last of them in part: no
    packing does better, whatever the machines. Runs without GPUs all count.
    """
    left = int(choices.grid.usable_gpus.sum()) + int(choices.grid.offered_gpus)
    found = 0
    asking: list[tuple[int, int, int]] = []
    counted: set[int] = set()
    for each in choices.classes:
        gpus = each.ask.all_gpus
        if each.ask.priority == tier and choices.starts(each):
            for cohort in each.cohorts:
                if id(cohort) in counted:
                    continue  # another option of the same runs
                counted.add(id(cohort))
                if gpus:
                    asking.append((cohort.weight, gpus, cohort.count))
                else:
                    found += cohort.weight * cohort.count
    for own, gpus, count in sorted(asking, key=lambda each: each[0] / each[1], reverse=True):
        whole = min(count, left // gpus)
        found += own * whole
        left -= gpus * whole
        if whole < count:
            return found + own * left // gpus
    return found
