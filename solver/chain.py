"""What the stages of one solve share: values as they improve, limits, and the account."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from stowplan.model.decision import Stage
from stowplan.solver.asks import RunClass
from stowplan.solver.choices import Choices
from stowplan.solver.interrupt import Interrupt
from stowplan.solver.linear import Row
from stowplan.solver.search import DETERMINISTIC_PER_SECOND, Cut, Found, Goal, Limits, search
from stowplan.solver.settings import Settings

SHARES: Mapping[str, float] = {"place": 0.76, "at_risk": 0.1, "points": 0.06, "canonical": 0.08}
"""How the time limit is divided between the stages."""


@dataclass(frozen=True)
class Progress:
    """How far a solve has come."""

    stage: str
    starting: int
    """Runs, and elements of arrays, that start by the best answer so far."""
    gap: float
    """How far the stage may be from its best, as a share."""


type Watcher = Callable[[Progress], None]


def unwatched(progress: Progress) -> None:
    """Watch nothing."""


@dataclass
class Chain:
    """Values of the variables as the stages improve them, and the account of each stage."""

    choices: Choices
    settings: Settings
    values: list[int]
    interrupt: Interrupt
    watcher: Watcher = unwatched
    stages: list[Stage] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)
    cut: Cut | None = None
    """The limit that ended a stage before its proof."""
    fixed: dict[int, int] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    def limits(self, name: str, gap: float, spent: float = 0.0) -> Limits:
        """Return the limits of a stage that has spent some of its deterministic time."""
        settings = self.settings
        share = SHARES[name] * settings.time_limit_s * DETERMINISTIC_PER_SECOND
        guard = settings.time_limit_s - (time.monotonic() - self.began)
        return Limits(max(1e-3, share - spent), guard, gap, settings.workers, settings.seed)

    def improve(self, title: str, goal: Goal, limits: Limits, trivial: int) -> Found:
        """Search the whole model for a better value of a goal, and take it."""
        found = search(
            self.choices.program,
            goal,
            self.values,
            limits,
            trivial=trivial,
            fixed=self.fixed,
            also=self.rows,
            interrupt=self.interrupt,
        )
        self.logs.append(f"#### {title}\n{found.log}")
        self.take(found, title)
        return found

    def take(self, found: Found, title: str) -> None:
        """Go on from what a search found."""
        self.values = found.values
        self.cut = found.cut or self.cut
        self.report(title, found.objective, found.bound)

    def report(self, title: str, objective: int, bound: int) -> None:
        """Tell the watcher how far the solve has come."""
        if self.watcher is not unwatched:
            starts = (self.choices.starts(each).at(self.values) for each in self.choices.classes)
            self.watcher(Progress(title, sum(starts), share_missing(objective, bound)))

    def fix(self, classes: Sequence[RunClass]) -> None:
        """Keep how many runs of these classes start."""
        for each in classes:
            for column in self.choices.starts(each).terms:
                self.fixed[column] = self.values[column]

    @property
    def free(self) -> int:
        """How many variables aren't fixed."""
        return len(self.values) - len(self.fixed)

    def is_over(self) -> bool:
        """Whether the wall time is spent, or the caller has asked to stop; noted as the cut."""
        if self.interrupt.asked:
            self.cut = "interrupted"
        elif time.monotonic() - self.began >= self.settings.time_limit_s:
            self.cut = "wall_time"
        else:
            return False
        return True


def share_missing(objective: int, bound: int) -> float:
    """Return how far an objective may be from the best, as a share of the larger."""
    return abs(bound - objective) / max(1, abs(bound), abs(objective))


@dataclass
class Tally:
    """What a stage came to, over its searches."""

    name: str
    objective: int = 0
    bound: int = 0
    wall: float = 0.0
    deterministic: float = 0.0
    proven: bool = True
    searched: bool = True

    def add(self, found: Found) -> None:
        """Count a search, and whether it proved what it found."""
        self.spend(found)
        self.proven = self.proven and found.status == "OPTIMAL"

    def spend(self, found: Found) -> None:
        """Count the time of a search."""
        self.wall += found.wall_s
        self.deterministic += found.deterministic

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
            wall_s=round(self.wall, 4),
            deterministic=round(self.deterministic, 6),
        )
