"""Every untrue word that a decision says about runs that wait, and about runs it refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stowplan.model.decision import (
    ArrayCount,
    Decision,
    HostRow,
    PlacedRun,
    RefusedRun,
    StayingRun,
    WaitingRun,
)
from stowplan.model.fleet import Machine
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.witness.asked import (
    cores_each,
    elements_left,
    gpus_each,
    gpus_held,
    holding,
    is_waiting,
    is_within_quota,
    may_start,
    memory_each,
    placed_workers,
    quota_of,
    run_named,
)
from tests.witness.fits import ahead, fits_alone, fits_beside, refusals, workers_of
from tests.witness.machines import (
    Room,
    barred,
    checked,
    not_ready,
    rooms,
    slots,
    usable,
)

SHARED = {"OK", "QUOTA_EXCEEDED", "ARRAY_LIMIT", "QUEUED_BEHIND", "NEXT_TO_RUN", "OUTCOMPETED"}
"""Codes of a host that has room, for a run that waits for something that runs share."""

FIXED = {
    "MACHINE_DOWN", "HARDWARE_STALE", "MACHINE_PRESSURE", "MACHINE_CORDONED", "MACHINE_DRAINING",
    "MACHINE_RESERVED", "CAPABILITY_MISSING", "NOT_SELECTED", "LABEL_MISSING", "POOL_MISMATCH",
    "MAX_ACCELERATORS", "DRIVE_MISSING", "DRIVE_UNREACHABLE", "DRIVE_FULL",
}  # fmt: skip
"""Codes for what bars a run from a machine whatever the room."""


GPUS = {
    "NO_MATCHING_GPU", "GPU_FAULTED", "GPU_DENIED", "GPU_UNAVAILABLE", "GPU_ALREADY_ALLOCATED",
    "INSUFFICIENT_GPUS", "INSUFFICIENT_HEALTHY_GPUS", "PINNED_GPU_BUSY",
}  # fmt: skip
"""Codes for too few GPUs on a machine, which of them a word of its own."""

SHORT = {"INSUFFICIENT_CPU": "cores", "INSUFFICIENT_MEMORY": "memory"} | dict.fromkeys(GPUS, "GPUs")
"""What a machine is short of, by code."""


def lies(snapshot: Snapshot, decision: Decision) -> list[str]:
    """Return what is untrue, a sentence each; nothing where all is true."""
    told: list[str] = []
    tables = {each.run: each.hosts for each in decision.outcomes if isinstance(each, WaitingRun)}
    for outcome in decision.outcomes:
        run = run_named(snapshot, outcome.run)
        case = _Case(snapshot, decision, run)
        match outcome:
            case WaitingRun():
                told += [f"{run.name} {lie}" for lie in case.of_waiting(outcome, tables)]
            case RefusedRun():
                told += [f"{run.name} {lie}" for lie in case.of_refused(outcome)]
            case PlacedRun() | StayingRun():
                told += [f"{run.name} {lie}" for lie in case.of_array(outcome)]
    return told


class _Case:
    """One run before the decision."""

    def __init__(self, snapshot: Snapshot, decision: Decision, run: Run) -> None:
        self.snapshot, self.decision, self.run = snapshot, decision, run
        given = placed_workers(decision)
        self.placed = len(given.get(run.name, ()))
        self.free = rooms(snapshot, decision)
        self.machines = checked(snapshot, run)
        self.behind = [
            other.name
            for other in ahead(snapshot, run)
            if snapshot.policy.queue == "strict" and other.name not in given
        ]

    def of_waiting(
        self, outcome: WaitingRun, tables: Mapping[str, tuple[HostRow, ...]]
    ) -> Iterator[str]:
        if self.run.state != "pending" and not is_waiting(self.snapshot, self.run):
            yield "is said to wait, and has nothing to start"
        if (codes := refusals(self.snapshot, self.run)) and self.snapshot.fleet.machines:
            yield f"waits, and must be refused: {codes}"
        yield from self._headline(str(outcome.reason.code))
        yield from self._counts(outcome)
        yield from self._closest(outcome.closest)
        if outcome.same_as is not None and not tables.get(outcome.same_as):
            yield f"shares the table of {outcome.same_as}, which has none"
        yield from self._table(tables.get(outcome.same_as or self.run.name, ()))
        yield from self._array(outcome.array)

    def of_refused(self, outcome: RefusedRun) -> Iterator[str]:
        if str(outcome.reason.code) not in refusals(self.snapshot, self.run):
            yield f"is refused by {outcome.reason.code}, which isn't so"

    def of_array(self, outcome: PlacedRun | StayingRun) -> Iterator[str]:
        if isinstance(outcome, PlacedRun) or outcome.array:
            yield from self._array(outcome.array)
        if elements_left(self.snapshot, self.run) <= self.placed:
            return
        if isinstance(outcome, StayingRun):
            if not self.behind and fits_beside(self.snapshot, self.decision, self.run.name):
                yield "starts no element though one fits"
        elif outcome.reason is None:
            yield "says nothing of its elements that wait"
        else:
            yield from self._headline(str(outcome.reason.code))

    def _headline(self, code: str) -> Iterator[str]:
        snapshot, run = self.snapshot, self.run
        alone = fits_alone(snapshot, run.name, self.placed + 1)
        beside = fits_beside(snapshot, self.decision, run.name)
        if beside and not self.behind:
            yield "waits though it fits beside all that is placed"
        is_short = not is_within_quota(
            snapshot, run, gpus_each(run), gpus_held(snapshot, run.workspace, self.decision)
        )
        match code:
            case "QUOTA_EXCEEDED":
                if not is_short:
                    yield "is within its quota"
            case "ARRAY_LIMIT":
                if not run.array or self.placed < may_start(snapshot, run):
                    yield "is within its array's limit"
            case "QUEUED_BEHIND" | "NEXT_TO_RUN":
                if bool(self.behind) != (code == "QUEUED_BEHIND"):
                    yield f"{code}, and before it wait {self.behind}"
                elif not beside:
                    yield "would wait without its queue too"
            case "OUTCOMPETED":
                if not alone:
                    yield "OUTCOMPETED, and doesn't fit alone"
                if beside:
                    yield "OUTCOMPETED, and fits beside those that won"
            case "SOLVER_LIMIT":
                if self.decision.solver.limit_hit is None:
                    yield "SOLVER_LIMIT, and no limit was hit"
            case _:
                yield from self._reason_of_hosts(code, alone, is_short)

    def _reason_of_hosts(self, code: str, alone: bool, is_short: bool) -> Iterator[str]:
        if alone:
            yield f"{code}, and fits alone"
        if not self.machines:
            return
        never = [self._never(machine) for machine in self.machines]
        everywhere = set.intersection(*never)
        said = SHORT.get(code, code)
        if everywhere - {"GPUs"} and said not in everywhere:
            yield f"{code}, and every host says {sorted(everywhere)}"
        quota = quota_of(self.snapshot, self.run.workspace) or 0
        if is_short and not everywhere and gpus_each(self.run) <= quota:
            yield f"{code} comes before its quota, which is short"
        now = [self._short_of(machine, self.free) for machine in self.machines]
        is_one = workers_of(self.snapshot, self.run) == 1
        if (code in FIXED or is_one) and said not in set.union(*never, *now):
            yield f"{code}, which is so on no host"

    def _never(self, machine: Machine) -> set[str]:
        """What keeps the run off the machine even when it is empty."""
        empty = rooms(self.snapshot, empty=True)
        return {*barred(self.snapshot, machine, self.run), *self._short_of(machine, empty)}

    def _short_of(self, machine: Machine, free: Mapping[str, Room]) -> set[str]:
        """What one worker of the run lacks on the machine."""
        room, gpus = free[machine.name], gpus_each(self.run)
        lacks = {
            "cores": cores_each(self.run, gpus) > max(0, room.cores),
            "memory": memory_each(self.run, gpus) > max(0, room.memory),
            "GPUs": len(usable(machine, self.run, room)) < gpus,
        }
        return {what for what, is_lacking in lacks.items() if is_lacking}

    def _counts(self, outcome: WaitingRun) -> Iterator[str]:
        counts = {
            "checked": (outcome.hosts_checked, len(self.machines)),
            "ready": (
                outcome.hosts_ready,
                sum(not any(not_ready(self.snapshot, each, self.run)) for each in self.machines),
            ),
            "down": (outcome.hosts_down, sum(each.state == "down" for each in self.machines)),
        }
        for what, (said, true) in counts.items():
            if said != true:
                yield f"says {said} hosts {what}, not {true}"
        if outcome.evaluated_at != self.snapshot.now:
            yield f"was evaluated at {outcome.evaluated_at}, not {self.snapshot.now}"

    def _closest(self, closest: str | None) -> Iterator[str]:
        empty = rooms(self.snapshot, empty=True)
        would = {each.name for each in self.machines if slots(self.snapshot, each, self.run, empty)}
        if closest is None and would:
            yield f"has no closest host, and {sorted(would)} would take it when empty"
        if closest is not None and closest not in would:
            yield f"is closest to {closest}, which would never take it"

    def _table(self, rows: tuple[HostRow, ...]) -> Iterator[str]:
        names = [name for row in rows for name in row.hosts]
        if sorted(names) != sorted(machine.name for machine in self.machines):
            yield f"lists the hosts {sorted(names)}, not those it looks at"
        machines = {machine.name: machine for machine in self.machines}
        for row in rows:
            said = [str(reason.code) for reason in row.reasons]
            for name in set(row.hosts) & set(machines):
                yield from self._row(machines[name], said)

    def _row(self, machine: Machine, said: list[str]) -> Iterator[str]:
        true = barred(self.snapshot, machine, self.run)
        if [code for code in said if code in FIXED] != true:
            yield f"says {said} of {machine.name}, where {true} is so"
        takes = slots(self.snapshot, machine, self.run, self.free)
        if not takes and not said:
            yield f"says nothing of {machine.name}, which can't take it"
        if takes and not {"OK", *SHARED}.issuperset(said):
            yield f"says {said} of {machine.name}, which can take a worker"
        short = {SHORT[code] for code in said if code in SHORT}
        if short != (is_short := self._short_of(machine, self.free)):
            yield f"says {said} of {machine.name}, which is short of {sorted(is_short)}"

    def _array(self, said: ArrayCount | None) -> Iterator[str]:
        if (said is None) != (self.run.array is None):
            yield "has an array's counts if and only if it is no array"
        if said is None or not (
            holding(self.snapshot, self.run) or is_waiting(self.snapshot, self.run)
        ):
            return
        running = len(holding(self.snapshot, self.run))
        left = elements_left(self.snapshot, self.run)
        if (said.running, said.placed, said.waiting) != (running, self.placed, left - self.placed):
            yield f"counts {said}, not {running}, {self.placed}, {left - self.placed}"
