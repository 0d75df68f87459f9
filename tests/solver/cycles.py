"""What one cycle answers, and the parts that it is made of, each in a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from stowplan.model.decision import Decision, Outcome, PlacedRun, WaitingRun
from stowplan.model.reasons import Code, Figure, Reason
from stowplan.model.snapshot import Snapshot
from stowplan.solver.asks import Ask, RunClass, classes_of
from stowplan.solver.cells import Cell, Finer, Signature, apart, binding, merged, signatures
from stowplan.solver.chain import Chain, Watcher, unwatched
from stowplan.solver.choices import Choices
from stowplan.solver.cycle import RULES, solve
from stowplan.solver.decode import decoded
from stowplan.solver.eligibility import Eligibility
from stowplan.solver.grid import Grid
from stowplan.solver.hosts import Host
from stowplan.solver.interrupt import Interrupt
from stowplan.solver.layout import Layout
from stowplan.solver.limits import Limits
from stowplan.solver.options import Options
from stowplan.solver.program.linear import Sum
from stowplan.solver.requests import Requests, requests_of
from stowplan.solver.settings import Settings
from stowplan.solver.situation import Situation
from stowplan.solver.stages import solve_stages


class Told(NamedTuple):
    """A reason without what follows from its code."""

    code: Code
    message: str
    numbers: Mapping[str, Figure]


def told(reason: Reason | None) -> Told:
    """Return a reason's code, sentence and numbers."""
    assert reason is not None
    return Told(reason.code, reason.message, dict(reason.numbers))


def outcome_of(answer: Snapshot | Decision, run: str) -> Outcome:
    """Return a run's outcome in a decision, or in the decision on a snapshot."""
    decision = solve(answer) if isinstance(answer, Snapshot) else answer
    return next(outcome for outcome in decision.outcomes if outcome.run == run)


def placed(answer: Snapshot | Decision, run: str) -> PlacedRun:
    """Return the outcome of a run that starts."""
    outcome = outcome_of(answer, run)
    assert isinstance(outcome, PlacedRun), outcome
    return outcome


def waits(answer: Snapshot | Decision, run: str) -> WaitingRun:
    """Return the outcome of a run that waits."""
    outcome = outcome_of(answer, run)
    assert isinstance(outcome, WaitingRun), outcome
    return outcome


def headline(answer: Snapshot | Decision, run: str) -> Told:
    """Return why a run waits."""
    return told(waits(answer, run).reason)


def row(answer: Snapshot | Decision, run: str, host: str) -> list[Told]:
    """Return what one host says of a run that waits: the deciding reason first."""
    [own] = [each for each in waits(answer, run).hosts if host in each.hosts]
    return [told(reason) for reason in own.reasons]


def says(answer: Snapshot | Decision, run: str, host: str) -> Told:
    """Return the one reason of a host that says no other of a run that waits."""
    [reason] = row(answer, run, host)
    return reason


def blames(answer: Snapshot | Decision, run: str, host: str) -> Told:
    """Return the one reason of a host, which the headline gives too, with all its numbers."""
    decision = solve(answer) if isinstance(answer, Snapshot) else answer
    reason, head = says(decision, run, host), headline(decision, run)
    assert (head.code, reason.message in head.message) == (reason.code, True), head
    assert reason.numbers.items() <= head.numbers.items(), head
    return reason


def places(answer: Snapshot | Decision) -> dict[str, list[str]]:
    """Return the hosts of each run that starts, worker by worker."""
    decision = solve(answer) if isinstance(answer, Snapshot) else answer
    return {
        outcome.run: [worker.host for worker in outcome.workers]
        for outcome in decision.outcomes
        if isinstance(outcome, PlacedRun)
    }


def starts(answer: Snapshot | Decision) -> set[str]:
    """Return the names of the runs that start."""
    return set(places(answer))


def gpus_of(answer: Snapshot | Decision, run: str) -> list[tuple[str, ...]]:
    """Return the GPUs of a run that starts, worker by worker."""
    return [worker.devices for worker in placed(answer, run).workers]


def asked_of(snapshot: Snapshot, settings: Settings | None = None) -> tuple[Eligibility, Requests]:
    """Return the rules over the hosts, and what the runs ask."""
    settings = settings or Settings.of(snapshot)
    eligibility = Eligibility.of(RULES, snapshot)
    return eligibility, requests_of(snapshot, eligibility, settings.profile)


def ask_in(requests: Requests, run: str) -> Ask:
    """Return what each worker of a run asks, in the shape for which it is explained."""
    return next(each.ask for each in requests.asked if each.run.name == run)


def grid_of(snapshot: Snapshot, settings: Settings | None = None) -> Grid:
    """Return the classes of a snapshot, each in every option, against its hosts."""
    limits = _limits(snapshot, settings)
    eligibility = limits.eligibility
    return Grid(Options(eligibility).of(limits.classes), eligibility, eligibility.hosts)


def limits_of(snapshot: Snapshot, grid: Grid) -> Limits:
    """Return the limits that the runs of a snapshot share; with the grid's own cohorts."""
    asked = requests_of(snapshot, grid.eligibility, Settings.of(snapshot).profile).asked
    own = {each.first: each.cohorts for each in grid.classes}
    classes = [
        replace(each, cohorts=own.get(each.first, each.cohorts))
        for each in classes_of(asked, snapshot)
    ]
    return Limits(snapshot, classes, grid.eligibility)


def choices_of(snapshot: Snapshot) -> Choices:
    """Return the variables of a snapshot host by host, with every rule's rows."""
    return choices_over(grid_of(snapshot), snapshot)


def choices_over(grid: Grid, snapshot: Snapshot) -> Choices:
    """Return the variables of classes and their options, as a grid has them, host by host."""
    return Choices(grid, limits_of(snapshot, grid), apart(grid), signatures(grid))


def over_cells(snapshot: Snapshot, finer: Finer | None = None) -> Choices:
    """Return the variables of a snapshot over cells and signatures, with every rule's rows."""
    grid = grid_of(snapshot)
    binds = binding(grid)
    cells = merged(grid, binds, finer=finer)
    return Choices(grid, limits_of(snapshot, grid), cells, signatures(grid, binds))


class Solved(NamedTuple):
    """What the stages of a cycle came to."""

    layout: Layout
    chain: Chain

    def started(self) -> dict[str, int]:
        """Return how many runs of each class start."""
        return started_in(self.layout)


def solved(
    snapshot: Snapshot, settings: Settings | None = None, watcher: Watcher = unwatched
) -> Solved:
    """Return what the stages of a snapshot's cycle come to."""
    return _solved(_limits(snapshot, settings), settings, watcher)


def _solved(
    limits: Limits, settings: Settings | None = None, watcher: Watcher = unwatched
) -> Solved:
    chain = Chain(settings or Settings.of(limits.snapshot), Interrupt(), watcher)
    found = solve_stages(limits.classes, limits.eligibility, limits, chain)
    return Solved(found.layout, chain)


def _limits(snapshot: Snapshot, settings: Settings | None = None) -> Limits:
    eligibility, requests = asked_of(snapshot, settings)
    return Limits(snapshot, classes_of(requests.asked, snapshot), eligibility)


def started_in(layout: Layout) -> dict[str, int]:
    """Return how many runs of each class start in a layout, by its oldest run, in any option."""
    found = dict.fromkeys((each.first for each in layout.grid.classes), 0)
    for each, started in zip(layout.grid.classes, layout.started, strict=True):
        found[each.first] += sum(started)
    return found


def that_start(weights: tuple[int, ...]) -> tuple[int, ...]:
    """Return the weights of tiers in which some run starts: refused runs can be tiers too."""
    return tuple(weight for weight in weights if weight)


def workers_in(layout: Layout) -> dict[str, dict[str, int]]:
    """Return by host which classes have workers there, and how many; only hosts in use."""
    grid = layout.grid
    found: dict[str, Counter[str]] = {}
    for host, there in zip(grid.hosts, layout.by_host(), strict=True):
        for index, workers in there:
            found.setdefault(host.name, Counter())[grid.classes[index].first] += workers
    return {host: dict(there) for host, there in found.items()}


def situation_of(snapshot: Snapshot) -> Situation:
    """Return the cycle of a snapshot once it is decided."""
    limits = _limits(snapshot)
    layout, chain = _solved(limits)
    return Situation(
        snapshot=snapshot,
        limits=limits,
        classes=limits.classes,
        grid=layout.grid,
        plan=decoded(layout),
        proven=chain.stages[0].status == "OPTIMAL",
    )


def class_of(of: Choices | Grid | Situation, run: str) -> RunClass:
    """Return the class that a run is in; where it has several options, the best."""
    return next(each for each in of.classes if run in {own.name for own in each.runs})


def host_of(of: Grid | Situation, name: str) -> Host:
    """Return a host by its name."""
    return next(host for host in of.hosts if host.name == name)


def place_of(grid: Grid, name: str) -> int:
    """Return a host's place in the grid."""
    return [host.name for host in grid.hosts].index(name)


def signature_of(choices: Choices, run: str) -> Signature:
    """Return the signature that a run's class is in."""
    own = class_of(choices, run)
    return next(each for each in choices.signatures if own in each.classes)


def cell_of(choices: Choices, host: str) -> Cell:
    """Return the cell that a host is in."""
    place = place_of(choices.grid, host)
    return next(cell for cell in choices.cells if place in cell.hosts)


def broken_rows(choices: Choices, values: Sequence[int]) -> list[str]:
    """Return the rules of the rows that the values break, and the variables out of bounds."""
    program = choices.program
    ends = enumerate(zip(program.lower, values, program.upper, strict=True))
    wrong = [f"variable {column}" for column, (a, value, b) in ends if not a <= value <= b]
    rows = zip(program.rules, program.rows, strict=True)
    return wrong + [
        rule for rule, row in rows if not row.low <= Sum(row.terms).at(values) <= row.high
    ]
