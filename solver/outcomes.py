"""The decision: one outcome for each run, in the order in which runs stand in line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from stowplan.model.decision import (
    ArrayCount,
    Decision,
    Outcome,
    PlacedRun,
    RefusedRun,
    SolverAccount,
    StayingRun,
    Summary,
    WaitingRun,
    Worker,
)
from stowplan.model.holds import stay_of
from stowplan.model.reasons import Code, Reason
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot, content_hash
from stowplan.model.topology import Joint
from stowplan.model.warnings import warnings
from stowplan.solver.asks import Ask, RunClass, queue_order, waiting_elements
from stowplan.solver.decode import Seat, Start
from stowplan.solver.explain.fallbacks import fallbacks
from stowplan.solver.explain.groups import Groups
from stowplan.solver.explain.headline import Headline
from stowplan.solver.explain.joined import asked_of_all, wiring_of
from stowplan.solver.explain.money import Money, usd_per_hour
from stowplan.solver.explain.placed import (
    asked_and_got,
    shape_of,
    workers_of,
)
from stowplan.solver.explain.rejected import Tables
from stowplan.solver.explain.standing import Standing
from stowplan.solver.explain.waiting import Why
from stowplan.solver.explain.worth import Figures
from stowplan.solver.requests import Requests, is_in_place
from stowplan.solver.settings import Settings
from stowplan.solver.situation import Situation


def decision_of(
    situation: Situation, requests: Requests, account: SolverAccount, settings: Settings
) -> Decision:
    """Return the decision that a plan comes to, with every reason."""
    snapshot = situation.snapshot
    outcomes = _Outcomes(situation, requests).all()
    counts = Counter(outcome.outcome for outcome in outcomes)
    gpus = sum(
        len(worker.devices)
        for outcome in outcomes
        if isinstance(outcome, PlacedRun)
        for worker in outcome.workers
    )
    return Decision(
        cycle=cycle_id(snapshot, settings),
        snapshot=snapshot.name,
        now=snapshot.now,
        summary=Summary.model_validate(
            {**counts, "gpus_placed": gpus, "usd_per_hour": usd_per_hour(situation)}
        ),
        outcomes=tuple(outcomes),
        solver=account,
        generation=snapshot.fleet.generation,
        hardware_data=snapshot.knowledge.hardware_data,
        warnings=warnings(snapshot),
    )


def cycle_id(snapshot: Snapshot, settings: Settings) -> str:
    """Return the id of a cycle: the same snapshot and settings have the same."""
    content = [snapshot.digest(), settings.model_dump(mode="json")]
    return f"c-{content_hash(content)[:12]}"


class _Outcomes:
    """What is worked out once for all runs of a class."""

    def __init__(self, situation: Situation, requests: Requests) -> None:
        self._situation = situation
        self._requests = requests
        self._class_of = {run.name: each for each in situation.classes for run in each.runs}
        self._tables: dict[tuple[str, int], Tables] = {}
        self._why: dict[str, tuple[str, Why]] = {}
        self._headlines: dict[str, Headline] = {}
        self._money = Money(situation)

    def all(self) -> list[Outcome]:
        snapshot = self._situation.snapshot
        in_line = sorted(snapshot.runs, key=lambda run: queue_order(run, snapshot))
        return [self._outcome(run) for run in in_line]

    def _outcome(self, run: Run) -> Outcome:
        if run.name in self._requests.refused and not is_in_place(run):
            return RefusedRun(run=run.name, reason=self._requests.refused[run.name])
        if starts := self._situation.starts_of_run(run.name):
            return self._placed(run, starts)
        if is_in_place(run):
            return self._staying(run)
        if run.name not in self._class_of:
            done = Reason.of(Code.OK, "every element has ended")
            return StayingRun(run=run.name, outcome="kept", reason=done, array=self._array(run, 0))
        return self._waiting(run)

    def _placed(self, run: Run, starts: Sequence[Start]) -> PlacedRun:
        each = starts[0].each
        ask = each.ask
        seats = [seat for start in starts for seat in start.seats]
        is_bought = any(seat.host.offering for seat in seats)
        tables = self._tables_of(each, self._money.spent(each, seats))
        told = tables.of(run.name)
        estimate = self._money.estimate(each, seats)
        array = self._array(run, len(starts))
        rest = None
        if array and array.waiting:
            rest = self._headline(each, run).of(run)
        joint = self._joint(each, seats)
        wiring = wiring_of(ask, seats, joint)
        rung = 1 if len({seat.host.name for seat in seats}) == 1 else joint and joint.rung
        return PlacedRun(
            run=run.name,
            shape=shape_of(ask, seats, joint),
            rung=None if is_bought else rung,
            group=_group(ask, seats, joint),
            workers=workers_of(starts, wiring, self._money.bills(each, seats)),
            profile=ask.profile,
            value=self._money.value(each, run.name, seats),
            estimate=estimate,
            scores=tables.standing.scores(run.name),
            fallbacks=fallbacks(tables.standing, seats),
            rejected=told.rows,
            same_as=told.same_as,
            asked_and_got=(
                *asked_and_got(ask, seats),
                *asked_of_all(run, ask, seats, joint, wiring),
                *self._money.got(each, seats, estimate),
            ),
            array=array,
            reason=rest,
        )

    def _joint(self, each: RunClass, seats: Sequence[Seat]) -> Joint | None:
        """Return what joins the machines of a run of several workers."""
        if each.ask.tasks == 1 or any(seat.host.spot is None for seat in seats):
            return None
        spots = self._situation.eligibility.ladder.spots_at(each.ask.min_gbps)
        return Joint.of([spots[seat.name] for seat in seats])

    def _tables_of(self, each: RunClass, spent: int) -> Tables:
        key = (each.name, spent)
        if key not in self._tables:
            self._tables[key] = Tables(Standing(self._situation, each, self._figures, spent))
        return self._tables[key]

    @cached_property
    def _figures(self) -> Figures:
        return Figures(self._situation)

    def _staying(self, run: Run) -> StayingRun:
        stay = stay_of(run, self._situation.snapshot)
        placed = run.placed.workers if run.placed else ()
        workers = tuple(
            Worker(index=index, host=worker.host, devices=worker.devices, element=worker.element)
            for index, worker in enumerate(placed)
        )
        return StayingRun(
            run=run.name,
            outcome=stay.outcome,
            reason=stay.reason,
            rest=self._rest_of(run),
            workers=workers,
            array=self._array(run, 0),
        )

    def _rest_of(self, run: Run) -> Reason | None:
        """Return why the elements of an array that runs wait, where some do."""
        if run.name in self._requests.refused:
            return self._requests.refused[run.name]
        each = self._class_of.get(run.name)
        return self._headline(each, run).of(run) if each else None

    def _waiting(self, run: Run) -> WaitingRun:
        each = self._class_of[run.name]
        first, why = self._examined(each, run)
        return WaitingRun(
            run=run.name,
            reason=self._headline(each, run).of(run),
            hosts_checked=why.checked,
            hosts_ready=why.ready,
            hosts_down=why.down,
            closest=why.closest.host.name if why.closest else None,
            hosts=why.rows if first == run.name else (),
            same_as=first if first != run.name and why.rows else None,
            evaluated_at=self._situation.snapshot.now,
            array=self._array(run, 0),
        )

    def _examined(self, each: RunClass, run: Run) -> tuple[str, Why]:
        """Return what hosts say of a class, and the run that carries the table."""
        if each.name not in self._why:
            self._why[each.name] = (
                run.name,
                Why(self._situation, each.ask, Groups(self._situation, each)),
            )
        return self._why[each.name]

    def _headline(self, each: RunClass, run: Run) -> Headline:
        if each.name not in self._headlines:
            why = self._examined(each, run)[1]
            self._headlines[each.name] = Headline(self._situation, each, why)
        return self._headlines[each.name]

    def _array(self, run: Run, placed: int) -> ArrayCount | None:
        if run.array is None:
            return None
        left = len(waiting_elements(run))
        running = run.array.size - len(run.array.finished) - left
        return ArrayCount(running=running, placed=placed, waiting=left - placed)


def _group(ask: Ask, seats: Sequence[Seat], joint: Joint | None) -> str | None:
    """Return the group that a run is on: of one on a single machine, its NVLink domain."""
    if ask.array:
        return None
    if joint and len({seat.host.name for seat in seats}) > 1:
        return joint.name
    return seats[0].host.spot.domain if seats[0].host.spot else None
