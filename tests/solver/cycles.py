"""What one cycle answers, and the parts that it is made of, each in a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from stowplan.model.decision import Decision, Outcome, PlacedRun, WaitingRun
from stowplan.model.reasons import Code, Figure, Reason
from stowplan.model.snapshot import Snapshot
from stowplan.solver.asks import RunClass, classes_of
from stowplan.solver.chain import Chain, unwatched
from stowplan.solver.choices import Choices
from stowplan.solver.cycle import RULES, solve
from stowplan.solver.decode import decoded
from stowplan.solver.eligibility import Eligibility
from stowplan.solver.grid import Grid
from stowplan.solver.hosts import Host, hosts_of
from stowplan.solver.interrupt import Interrupt
from stowplan.solver.limits import Limits
from stowplan.solver.linear import Sum
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
    eligibility = Eligibility(RULES, hosts_of(snapshot))
    return eligibility, requests_of(snapshot, eligibility, settings.profile)


def choices_of(snapshot: Snapshot) -> Choices:
    """Return the variables of a snapshot, with every rule's rows."""
    eligibility, requests = asked_of(snapshot)
    choices = Choices(snapshot, classes_of(requests.asked, snapshot), eligibility)
    for rule in RULES:
        if rule.post:
            choices.program.post(rule.name, rule.post(choices))
    return choices


def chain_of(snapshot: Snapshot, settings: Settings | None = None) -> Chain:
    """Return the chain of stages of a snapshot, after all of them."""
    return solve_stages(choices_of(snapshot), settings or Settings.of(snapshot), Interrupt())


def situation_of(snapshot: Snapshot) -> Situation:
    """Return the cycle of a snapshot once it is decided."""
    settings = Settings.of(snapshot)
    eligibility, requests = asked_of(snapshot, settings)
    classes = classes_of(requests.asked, snapshot)
    limits = Limits(snapshot, classes, eligibility)
    chain = Chain(settings, Interrupt(), unwatched)
    layout = solve_stages(Grid(classes, eligibility, eligibility.hosts), limits, chain)
    return Situation(
        snapshot=snapshot,
        eligibility=eligibility,
        hosts=eligibility.hosts,
        classes=classes,
        limits=limits,
        plan=decoded(layout),
        proven=chain.stages[0].status == "OPTIMAL",
    )


def class_of(of: Choices | Situation, run: str) -> RunClass:
    """Return the class that a run is in."""
    return next(each for each in of.classes if run in {own.name for own in each.runs})


def host_of(of: Choices | Situation, name: str) -> Host:
    """Return a host by its name."""
    return next(host for host in of.hosts if host.name == name)


def keeps_every_row(choices: Choices, values: Sequence[int]) -> bool:
    """Whether the values are within their bounds and no row is broken."""
    program = choices.program
    ends = zip(program.lower, values, program.upper, strict=False)
    return all(low <= value <= high for low, value, high in ends) and all(
        row.low <= Sum(row.terms).at(values) <= row.high for row in program.rows
    )
