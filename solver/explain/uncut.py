"""The limit on its shape without which a run would fit, where nothing else keeps it out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stowplan.model.reasons import Code, Figure, Reason
from stowplan.model.runs import Run
from stowplan.solver.asks import Ask, RunClass, ask_of
from stowplan.solver.explain.groups import Groups
from stowplan.solver.rule import Rule
from stowplan.solver.shapes import Cut, open_shapes
from stowplan.solver.situation import Situation


def kept_uncut(situation: Situation, each: RunClass, run: Run) -> Reason | None:
    """Return TOPOLOGY_NO_ROOM of the rule without which the run would fit the empty fleet.

    Runs of a class have the same shapes open to them, and each its own limits.
    """
    for rule, ask in _without_one(situation, each, run):
        if not situation.rooms_empty.fits(ask):
            continue
        alone = replace(each, ask=ask, ways=(ask,))
        if not Groups(situation, alone).fits(situation.rooms_empty, at_once=False):
            continue
        against = rule.why_uncut and rule.why_uncut(Cut(run, ask.tasks or 0))
        if against:
            figures: dict[str, Figure] = {"rules": (rule.name,), against.field: against.figure}
            text = f"{against.text}; so cut, it would fit the empty {situation.word}"
            return Reason.of(
                Code.TOPOLOGY_NO_ROOM, text, workers=ask.tasks, gpus=ask.gpus, empty=True, **figures
            )
    return None


def _without_one(situation: Situation, each: RunClass, run: Run) -> Iterator[tuple[Rule, Ask]]:
    """Yield each rule on shapes with what workers ask in the shapes that it alone closes."""
    rules = situation.eligibility.rules
    is_priced = situation.eligibility.prices.is_priced
    for rule in rules:
        if not rule.why_uncut or each.ask.array:
            continue
        shapes = open_shapes(run, [other for other in rules if other is not rule])
        if isinstance(shapes, Reason):
            continue
        for shape in shapes:
            if shape.tasks and rule.why_uncut(Cut(run, shape.tasks)):
                profile = each.ask.profile
                yield rule, ask_of(run, shape, situation.snapshot, profile, is_priced=is_priced)
