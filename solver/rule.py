"""What a rule is: a name, why a host can't take a worker, and rows that bind what is placed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from stowplan.model.reasons import Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host
from stowplan.solver.money.prices import Bools, Ints, Priced
from stowplan.solver.program.linear import Row
from stowplan.solver.shapes import Against, Cut

if TYPE_CHECKING:
    from stowplan.solver.choices import Choices
    from stowplan.solver.ladder import Group

type WhyNot = Callable[[Ask, Host, Room], Reason | None]
type Bars = Callable[[Ask, Priced], Bools]
type WhyBarred = Callable[[Ask, Priced, int], Reason]
type Figure = Callable[[Priced], Ints]
type WhyUncut = Callable[[Cut], Against | None]
type Allows = Callable[[Ask, Group], bool]
type OnlyTightest = Callable[[Ask], bool]
type Post = Callable[[Choices], Iterable[Row]]


class Rule(NamedTuple):
    """One hard condition. A module of `solver.rules` gives one or more of its sides."""

    name: str
    why_not: WhyNot | None
    """Why this host, with this much room, can't take one worker that asks this; None: it can."""
    why_uncut: WhyUncut | None
    """Why a run can't be cut into so many workers; None: it can."""
    allows: Allows | None
    """Whether all workers of a run of several may be on a group of machines."""
    only_tightest: OnlyTightest | None
    """Whether a run is on the tightest rung that it could ever get, or waits."""
    post: Post | None
    """The rows that hold over all that is placed together."""
    reads_room: bool
    """Whether `why_not` depends on what is free."""
    asked_by: str | None
    """The field of an ask without which `why_not` says nothing; None: it may say something to all.
    """
    on_machines: bool
    """Whether `why_not` never says anything of an offering."""
    bars: Bars | None
    """Of a rule that reads prices: the hosts that can't take a worker, an array over all."""
    why_barred: WhyBarred | None
    """Why one of those, by its place, can't."""
    figure: Figure | None
    """By host: what is too much there, where it is one figure."""
    cost: int | None
    """What it costs to loosen the rule, beside others; None: it is never loosened."""

    def concerns(self, ask: Ask) -> bool:
        """Whether `why_not` may say something to a run that asks this."""
        return self.why_not is not None and (
            self.asked_by is None or bool(getattr(ask, self.asked_by))
        )


def rule(module: ModuleType, *, cost: int | None = None) -> Rule:
    """Return the rule that a module states; its name is the module's."""
    return Rule(
        name=module.__name__.rpartition(".")[2],
        why_not=getattr(module, "why_not", None),
        why_uncut=getattr(module, "why_uncut", None),
        allows=getattr(module, "allows", None),
        only_tightest=getattr(module, "only_tightest", None),
        post=getattr(module, "post", None),
        reads_room=getattr(module, "READS_ROOM", False),
        asked_by=getattr(module, "ASKED_BY", None),
        on_machines=getattr(module, "ON_MACHINES", False),
        bars=getattr(module, "bars", None),
        why_barred=getattr(module, "why_barred", None),
        figure=getattr(module, "figure", None),
        cost=cost,
    )
