"""The shapes that are open to a run: the even cuts that every rule leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from stowplan.model.reasons import Reason
from stowplan.model.runs import Run
from stowplan.model.shape import Shape, shape_over, shapes_of, uneven

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

    The reason tells what is said first against each cut: every rule once, of the fewest workers.
    """
    shapes = shapes_of(run)
    if isinstance(shapes, Reason):
        return shapes
    asking = [rule.why_uncut for rule in rules if rule.why_uncut]
    found: list[Shape] = []
    against: dict[str, Against] = {}
    for shape in shapes:
        if why := _against(run, shape, asking):
            against.setdefault(why.field, why)
        else:
            found.append(shape)
    return tuple(found) or _none_left(run, shapes[0], tuple(against.values()))


def open_shape_over(run: Run, machines: int, rules: Sequence[Rule]) -> Shape | Reason:
    """Return the shape of a run that is on every machine that could take it, and these are many;
    else UNEVEN_SHAPE. None that could: any number may yet come, and none of them is too few."""
    shape = shape_over(run, machines)
    if isinstance(shape, Reason) or not machines:
        return shape
    why = _against(run, shape, [rule.why_uncut for rule in rules if rule.why_uncut])
    return _none_left(run, shape, (why,)) if why else shape


def _none_left(run: Run, first: Shape, against: Sequence[Against]) -> Reason:
    """Return UNEVEN_SHAPE in the words of all that speaks against the cuts."""
    text = "; ".join(each.text for each in against)
    return uneven(run, text, machines=first.tasks, **{each.field: each.figure for each in against})


def _against(run: Run, shape: Shape, asking: Sequence[WhyUncut]) -> Against | None:
    """Return what the first rule that doesn't allow the shape says; None: all of them do."""
    if shape.tasks is None:
        return None
    cut = Cut(run, shape.tasks)
    return next((why for why_uncut in asking if (why := why_uncut(cut))), None)
