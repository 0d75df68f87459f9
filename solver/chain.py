"""What the stages of one solve share: values as they improve, limits, and the account."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from stowplan.model.decision import Stage
from stowplan.solver.interrupt import Interrupt
from stowplan.solver.program.linear import Program
from stowplan.solver.program.search import DETERMINISTIC_PER_SECOND, Cut, Found, Limits
from stowplan.solver.settings import Settings

SHARES: Mapping[str, float] = {
    "place": 0.8, "value": 0.2, "at_risk": 0.1, "room": 0.08, "points": 0.04, "own": 0.02,
    "holes": 0.03, "canonical": 0.03,
}  # fmt: skip
"""How the time limit is divided between the stages. Together a little more than all of it: few
fleets have something to decide in each."""


@dataclass(frozen=True)
class Progress:
    """How far a solve has come."""

    stage: str
    """What is done now; STOPPING where the caller has asked to stop."""
    starting: int | None = None
    """Runs, and elements of arrays, that start by the best answer so far, once there is one."""
    gap: float | None = None
    """How far what is placed may be from the best, as a share, once that is known."""


BUILDING, EXPLAINING, CHECKING = "building", "explaining", "checking"
"""What is done beside the stages."""
STOPPING = "stopping"


type Watcher = Callable[[Progress], None]


def unwatched(progress: Progress) -> None:
    """Watch nothing."""


@dataclass
class Chain:
    """The time that the stages of one solve share, and what they report."""

    settings: Settings
    interrupt: Interrupt
    watcher: Watcher = unwatched
    stages: list[Stage] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)
    cut: Cut | None = None
    """The limit that ended a stage before its proof."""
    far: Progress = Progress(BUILDING)
    """How far the solve has come; the gap is that of place, in every stage."""
    sizes: Counter[str] = field(default_factory=Counter)
    """Rows by rule of the largest program that was searched."""
    variables: int = 0
    """How many it has."""
    began: float = field(default_factory=time.monotonic)

    def limits(self, name: str, gap: float, spent: float = 0.0) -> Limits:
        """Return the limits of a stage that has spent some of its deterministic time."""
        settings = self.settings
        share = SHARES.get(name, SHARES["own"]) * settings.time_limit_s * DETERMINISTIC_PER_SECOND
        guard = settings.time_limit_s - (time.monotonic() - self.began)
        return Limits(max(1e-3, share - spent), guard, gap, settings.workers, settings.seed)

    def report(self, title: str, starting: int, objective: int, bound: int) -> None:
        """Tell the watcher how far the solve has come."""
        gap = share_missing(objective, bound) if title.startswith("place") else self.far.gap
        self.far = Progress(title, starting, gap)
        self.watcher(self.far)

    def tell(self, stage: str) -> None:
        """Tell the watcher what is done now, with the last figures."""
        self.far = replace(self.far, stage=stage)
        self.watcher(self.far)

    def is_over(self) -> bool:
        """Whether the wall time is spent, or the caller has asked to stop; noted as the cut."""
        if self.interrupt.asked:
            self.cut = "interrupted"
        elif time.monotonic() - self.began >= self.settings.time_limit_s:
            self.cut = "wall_time"
        else:
            return False
        return True

    def measure(self, program: Program) -> None:
        """Note how large a program is; the account gives the largest."""
        if len(program.upper) >= self.variables:
            self.variables = len(program.upper)
            self.sizes = Counter(program.rules)
            self.sizes["points"] += len(program.products)


def share_missing(objective: int, bound: int) -> float:
    """Return how far an objective may be from the best, as a share of the larger."""
    return abs(bound - objective) / max(1, abs(bound), abs(objective))


@dataclass
class Tally:
    """What a stage came to, over its searches."""

    name: str
    objective: int = 0
    bound: int = 0
    deterministic: float = 0.0
    proven: bool = True
    searched: bool = True
    price: int = 0
    since: float = field(default_factory=time.monotonic)

    def add(self, found: Found) -> None:
        """Count a search, and whether it proved what it found."""
        self.spend(found)
        self.proven = self.proven and found.status == "OPTIMAL"

    def spend(self, found: Found, more: float = 0.0) -> None:
        """Count the deterministic time of a search, and more for what it took beside."""
        self.deterministic += found.deterministic + more

    def stage(self) -> Stage:
        """Return the entry in the account."""
        gap = share_missing(self.objective, self.bound)
        status: Literal["OPTIMAL", "FEASIBLE", "GREEDY"] = "FEASIBLE"
        if not self.searched:
            status = "GREEDY"
        elif self.proven:
            status = "OPTIMAL"
        return Stage(
            name=self.name,
            status=status,
            objective=self.objective,
            bound=self.bound,
            gap=round(gap, 6),
            wall_s=round(time.monotonic() - self.since, 4),
            deterministic=round(self.deterministic, 6),
            price=self.price,
        )


def restated(stage: Stage, objective: float, bound: float) -> Stage:
    """Return the entry of a stage with other figures; where they are further apart than before, it
    is no proof any more."""
    gap = round(share_missing(int(objective), int(bound)), 6)
    status = "FEASIBLE" if gap > stage.gap and stage.status == "OPTIMAL" else stage.status
    return stage.model_copy(
        update={"objective": objective, "bound": bound, "gap": gap, "status": status}
    )
