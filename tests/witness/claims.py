"""Every untrue word that a decision says about its runs, above all about those that wait."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

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
from stowplan.model.reasons import Figure, Reason
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
from tests.witness.chosen import Chosen
from tests.witness.fits import (
    ahead,
    fits_alone,
    fits_beside,
    has_room,
    refusals,
    slots,
    workers_of,
)
from tests.witness.machines import Room, checked, rooms, usable
from tests.witness.reasons import Said, not_ready, reasons
from tests.witness.rows import untrue


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
            case PlacedRun():
                chosen = Chosen(snapshot, decision, run, outcome).lies()
                told += [f"{run.name} {lie}" for lie in (*chosen, *case.of_array(outcome))]
            case StayingRun():
                told += [f"{run.name} {lie}" for lie in case.of_array(outcome)]
    return told


class _Case:
    """One run before the decision."""

    def __init__(self, snapshot: Snapshot, decision: Decision, run: Run) -> None:
        self.snapshot, self.decision, self.run = snapshot, decision, run
        given = placed_workers(decision)
        self.placed = len(given.get(run.name, ()))
        self.free, self.empty = rooms(snapshot, decision), rooms(snapshot, empty=True)
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
        yield from self._headline(outcome.reason)
        yield from self._counts(outcome)
        yield from self._closest(outcome.closest)
        if outcome.same_as is not None and not tables.get(outcome.same_as):
            yield f"shares the table of {outcome.same_as}, which has none"
        rows = tables.get(outcome.same_as or self.run.name, ())
        yield from untrue(rows, self.machines, self._of_host)
        yield from self._array(outcome.array)

    def of_refused(self, outcome: RefusedRun) -> Iterator[str]:
        if str(outcome.reason.code) not in refusals(self.snapshot, self.run):
            yield f"is refused by {outcome.reason.code}, which isn't so"

    def of_array(self, outcome: PlacedRun | StayingRun) -> Iterator[str]:
        if isinstance(outcome, PlacedRun) or outcome.array:
            yield from self._array(outcome.array)
        rest = outcome.reason if isinstance(outcome, PlacedRun) else outcome.rest
        if elements_left(self.snapshot, self.run) <= self.placed:
            if rest is not None:
                yield f"says why the rest waits ({rest.code}), and nothing does"
        elif rest is None:
            yield "says nothing of its elements that wait"
        elif codes := refusals(self.snapshot, self.run):
            if str(rest.code) not in codes:
                yield f"says that its elements wait by {rest.code}, and they never start: {codes}"
        else:
            yield from self._headline(rest)

    def _headline(self, reason: Reason) -> Iterator[str]:
        snapshot, run, code = self.snapshot, self.run, str(reason.code)
        alone = fits_alone(snapshot, run.name, self.placed + 1)
        beside = fits_beside(snapshot, self.decision, run.name)
        if beside and not self.behind:
            yield "waits though it fits beside all that is placed"
        held = gpus_held(snapshot, run.workspace)
        taken = gpus_held(snapshot, run.workspace, self.decision)
        is_short = not is_within_quota(snapshot, run, gpus_each(run), taken)
        match code:
            case "QUOTA_EXCEEDED":
                if not is_short:
                    yield "is within its quota"
                quota = quota_of(snapshot, run.workspace)
                yield from _unlike(
                    reason, need=gpus_each(run), quota=quota, held=held, placed=taken - held
                )
            case "ARRAY_LIMIT":
                if not run.array or self.placed < may_start(snapshot, run):
                    yield "is within its array's limit"
                running = len(holding(snapshot, run))
                most = run.array.max_parallel if run.array else None
                yield from _unlike(reason, max_parallel=most, running=running, placed=self.placed)
            case "QUEUED_BEHIND" | "NEXT_TO_RUN":
                if bool(self.behind) != (code == "QUEUED_BEHIND"):
                    yield f"{code}, and before it wait {self.behind}"
                elif not beside:
                    yield "would wait without its queue too"
                if code == "QUEUED_BEHIND" and self.behind:
                    yield from _unlike(reason, behind=self.behind[0], workspace=run.workspace)
            case "OUTCOMPETED":
                if not alone:
                    yield "OUTCOMPETED, and doesn't fit alone"
                if beside:
                    yield "OUTCOMPETED, and fits beside those that won"
                if alone and not beside:
                    yield from self._rivals(reason.numbers.get("runs"))
            case "SOLVER_LIMIT":
                if self.decision.solver.limit_hit is None:
                    yield "SOLVER_LIMIT, and no limit was hit"
            case _:
                yield from self._reason_of_hosts(reason, alone, is_short)

    def _rivals(self, told: Figure) -> Iterator[str]:
        """A least set: with them gone it fits, and with any one of them there it doesn't."""
        if not isinstance(told, tuple) or not placed_workers(self.decision).keys() >= set(told):
            yield f"lost to {told}, which weren't all placed"
            return
        if not self._fits_without(set(told)):
            yield f"lost to {told}, and wouldn't fit without them"
        for kept in told:
            if self._fits_without(set(told) - {kept}):
                yield f"lost to {told}, and would fit with {kept} there"

    def _fits_without(self, gone: set[str]) -> bool:
        rest = tuple(each for each in self.decision.outcomes if each.run not in gone)
        without = self.decision.model_copy(update={"outcomes": rest})
        return has_room(self.snapshot, self.run, rooms(self.snapshot, without), 1)

    def _reason_of_hosts(self, reason: Reason, alone: bool, is_short: bool) -> Iterator[str]:
        code = str(reason.code)
        if alone:
            yield f"{code}, and fits alone"
        if not self.machines:
            return
        never = [self._reasons(machine, self.empty) for machine in self.machines]
        everywhere = set.intersection(*({said.code for said in each} for each in never))
        if everywhere:
            if code not in everywhere:
                yield f"{code}, and every host says {sorted(everywhere)}"
            elif not _is_one_of(reason, [said for each in never for said in each]):
                yield f"{code} with {dict(reason.numbers)}, which no host says"
            return
        quota = quota_of(self.snapshot, self.run.workspace) or 0
        if is_short and gpus_each(self.run) <= quota and self._takers():
            yield f"{code} comes before its quota, which is short"
        if (workers := workers_of(self.snapshot, self.run)) != 1:
            if code == "SPREAD_CONFLICT":
                yield from _unlike(reason, workers=workers, machines=len(self._takers()))
            return
        if closest := reason.numbers.get("closest"):
            now = [each for each in self.machines if each.name == closest]
            firsts = [self._reasons(machine, self.free)[:1] for machine in now]
            if closest not in self._takers() or not _is_one_of(reason, itertools.chain(*firsts)):
                yield f"{code} with {dict(reason.numbers)}, which isn't so of {closest}"
        elif self._takers() or not _is_one_of(reason, [said for each in never for said in each]):
            yield f"{code} with {dict(reason.numbers)}, which keeps it off no host"

    def _of_host(self, machine: Machine) -> list[list[Said]]:
        """What may be said of a host: its reasons, or that it has room for a worker."""
        return [self._reasons(machine, self.free) or [Said("OK", {})]]

    def _reasons(self, machine: Machine, free: Mapping[str, Room]) -> list[Said]:
        return reasons(self.snapshot, machine, self.run, free[machine.name])

    def _takers(self) -> dict[str, Machine]:
        """The hosts that would take a worker if they were empty."""
        return {
            each.name: each
            for each in self.machines
            if slots(self.snapshot, each, self.run, self.empty)
        }

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
        """The host that is short of room only, and of the least; None where no room is enough."""
        takers = self._takers()
        if not has_room(self.snapshot, self.run, self.empty, 1):
            takers = {}
        if workers_of(self.snapshot, self.run) > 1 and not has_room(
            self.snapshot, self.run, self.free, 1
        ):  # of several workers, those count for which there is too little room
            lacking = {name for name, each in takers.items() if any(self._lack(each))}
            takers = {name: each for name, each in takers.items() if name in lacking} or takers
        least = min(map(self._lack, takers.values()), default=None)
        if (closest is None) != (least is None):
            yield f"is closest to {closest}, and {sorted(takers)} would take it when empty"
        elif closest is not None and closest not in takers:
            yield f"is closest to {closest}, which would never take it"
        elif closest is not None and self._lack(takers[closest]) != least:
            yield f"is closest to {closest}, and another lacks less"

    def _lack(self, machine: Machine) -> tuple[int, Fraction]:
        """What a worker lacks there: GPUs, then the shares of cores and of memory."""
        room, gpus = self.free[machine.name], gpus_each(self.run)
        shares = Fraction(0)
        for ask, free in (
            (cores_each(self.run, gpus), room.cores),
            (memory_each(self.run, gpus), room.memory),
        ):
            shares += Fraction(max(0, ask - max(0, free)), max(1, ask))
        return (max(0, gpus - len(usable(machine, self.run, room))), shares)

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


def _unlike(reason: Reason, **true: Figure) -> Iterator[str]:
    if dict(reason.numbers) != true:
        yield f"{reason.code} with {dict(reason.numbers)}, and {true} is so"


def _is_one_of(reason: Reason, said: Iterable[Said]) -> bool:
    """Whether it has the code and all the numbers of one of these; it may have more numbers."""
    return any(
        reason.code == each.code and reason.numbers.items() >= each.numbers.items() for each in said
    )
