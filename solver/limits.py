"""What no host says of a run: the limits that runs share (quotas, arrays) and their lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from stowplan.model.holds import holding
from stowplan.model.snapshot import Snapshot
from stowplan.solver.asks import Cohort, RunClass, queue_order
from stowplan.solver.eligibility import Eligibility
from stowplan.solver.options import Options


@dataclass(frozen=True)
class Limits:
    """What is left of each shared limit at the start of the cycle, and who stands before whom."""

    snapshot: Snapshot
    classes: Sequence[RunClass]
    eligibility: Eligibility
    settled: Mapping[int, int] = field(default_factory=dict)
    """How many runs of a cohort, by its id, start already: those that aren't chosen any more."""

    @cached_property
    def quota_left(self) -> Mapping[str, int]:
        """What is left of each workspace's quota, less than nothing where it is overdrawn."""
        left = {
            workspace.name: workspace.gpu_quota
            for workspace in self.snapshot.policy.workspaces
            if workspace.gpu_quota is not None
        }
        for run, worker in holding(self.snapshot):
            if run.workspace in left:
                left[run.workspace] -= len(worker.devices)
        for each in self.classes if self.settled else ():
            starting = sum(self.settled.get(id(cohort), 0) for cohort in each.cohorts)
            if each.ask.workspace in left:
                left[each.ask.workspace] -= starting * each.ask.all_gpus
        return left

    @cached_property
    def parallel_left(self) -> Mapping[str, int]:
        """How many more elements of each limited array may run at once, by the array's name."""
        left = {
            run.name: run.array.max_parallel
            for run in self.snapshot.runs
            if run.array and run.array.max_parallel is not None
        }
        for run, _ in holding(self.snapshot):
            if run.name in left:
                left[run.name] -= 1
        return left

    @cached_property
    def lines(self) -> Mapping[str, Sequence[Cohort]]:
        """The strict queues by workspace, first in line first; none where the queue isn't strict.

        Runs that could never start are left out: they hold nobody up.
        """
        lines: dict[str, list[Cohort]] = {}
        if self.snapshot.policy.queue == "strict":
            for each in self.classes:
                if self.could_ever_start(each):
                    lines.setdefault(each.ask.workspace, []).extend(each.cohorts)
            for line in lines.values():
                line.sort(key=lambda cohort: queue_order(cohort.runs[0], self.snapshot))
        return lines

    def holds_up(self, cohort: Cohort) -> bool:
        """Whether a run in line must start before those behind it; an array that runs needn't."""
        return cohort.runs[0].name not in self._running

    @cached_property
    def _running(self) -> frozenset[str]:
        return frozenset(run.name for run, _ in holding(self.snapshot))

    @cached_property
    def neighbours_in_line(self) -> Sequence[tuple[Cohort, Cohort]]:
        """Pairs (earlier, later) of each strict queue: the later waits for the earlier to start."""
        pairs = []
        for line in self.lines.values():
            ahead: Cohort | None = None
            for cohort in line:
                if ahead is not None:
                    pairs.append((ahead, cohort))
                if self.holds_up(cohort):
                    ahead = cohort
        return pairs

    def could_ever_start(self, each: RunClass) -> bool:
        """Whether one of its runs could start alone on the empty fleet, the whole quota free."""
        quota = self.snapshot.workspaces[each.ask.workspace].gpu_quota
        if quota is not None and each.ask.all_gpus > quota:
            return False
        return self._options.tightest(each, buying=True) is not None

    @cached_property
    def _options(self) -> Options:
        return Options(self.eligibility)
