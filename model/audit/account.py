"""Account: a stage tells what the decision comes to, and its bound is never beyond that.

A stage that a limit or the gap ended may have been bettered by those after it, for they keep what
it came to and no less; what they tell then is of another answer than the one decided, and isn't
looked at.
What `value` and the wishes of profiles come to isn't worked out again: `value` looks at each run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from stowplan.model.audit import climbing, earning
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.decision import Stage

MOST = {"place", "points", "health", "warm", "fit", "warm_at_last"}
"""The stages that want as much as can be; the others as little."""

FIGURES: Mapping[str, Callable[[Plan], int | None]] = {
    "at_risk": earning.at_risk,
    "rung": climbing.rungs,
    "machines": climbing.machines,
    "room": climbing.room,
    "points": earning.points,
    "holes": earning.holes,
}
"""What a decision comes to in each stage; None where the search alone knows."""


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each stage that tells another figure than the decision's, or a bound beyond its own."""
    for wrong in _wrong(plan):
        yield Violation("account", None, None, wrong)


def _wrong(plan: Plan) -> Iterator[str]:
    is_bettered = False
    for stage in plan.decision.solver.stages:
        name, told = stage.name, stage.objective
        if _way(stage) * (stage.bound - told) < 0:
            yield f"{name} is {told:,g} with a bound of {stage.bound:,g}, and can't be beyond that"
        figure = FIGURES[name](plan) if name in FIGURES and not is_bettered else None
        if figure is None or figure == told:
            continue
        is_better = _way(stage) * (figure - told) > 0
        is_bettered = is_better and (stage.status != "OPTIMAL" or stage.gap > 0)
        if not is_bettered:
            yield f"{name} is told as {told:,g}, and the decision comes to {figure:,}"


def _way(stage: Stage) -> int:
    """Return 1 where a stage wants the most, -1 where it wants the least."""
    return 1 if stage.name in MOST else -1
