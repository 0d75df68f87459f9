"""The shapes that are open to a run: the even cuts that every rule leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from stowplan.model.reasons import Reason
from stowplan.model.runs import Run
from stowplan.model.shape import Shape, shapes_of, uneven

if TYPE_CHECKING:
    from stowplan.solver.rule import Rule, WhyUncut


class Cut(NamedTuple):
    """A run in so many workers, each with as many GPUs as the others."""

    run: Run
    tasks: int

    @property
    def gpus_each(self) -> int:
        """The GPUs of one worker."""
        return self.run.gpus.count // self.tasks

    @property
    def words(self) -> str:
        """Over how many machines it is, and how many GPUs, if any."""
        gpus, machines = self.run.gpus.count, "machine" if self.tasks == 1 else "machines"
        return f"{gpus} GPUs over {self.tasks} {machines}" if gpus else f"{self.tasks} {machines}"


class Against(NamedTuple):
    """What speaks against a cut: the field, its figure, and in words."""

    field: str
    figure: int
    text: str


def open_shapes(run: Run, rules: Sequence[Rule]) -> tuple[Shape, ...] | Reason:
    """Return the shapes that are open to a run, the fewest workers first; else UNEVEN_SHAPE.

    The reason is the first that a rule gives against the fewest workers.
    """
    shapes = shapes_of(run)
    if isinstance(shapes, Reason):
        return shapes
    asking = [rule.why_uncut for rule in rules if rule.why_uncut]
    against = [_against(run, shape, asking) for shape in shapes]
    found = tuple(shape for shape, why in zip(shapes, against, strict=True) if why is None)
    why = against[0]
    if found or why is None:
        return found
    return uneven(run, why.text, machines=shapes[0].tasks, **{why.field: why.figure})


def _against(run: Run, shape: Shape, asking: Sequence[WhyUncut]) -> Against | None:
    """Return what the first rule that doesn't allow the shape says; None: all of them do."""
    if shape.tasks is None:
        return None
    cut = Cut(run, shape.tasks)
    return next((why for why_uncut in asking if (why := why_uncut(cut))), None)
