"""One scheduling cycle: the visible list of rules, and the way from a snapshot to a decision."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator, Sequence

from stowplan.model.audit import audit
from stowplan.model.decision import Decision
from stowplan.model.errors import InternalError
from stowplan.model.snapshot import Snapshot
from stowplan.solver.account import account_of
from stowplan.solver.asks import classes_of
from stowplan.solver.chain import (
    BUILDING,
    CHECKING,
    EXPLAINING,
    STOPPING,
    Chain,
    Progress,
    Watcher,
    unwatched,
)
from stowplan.solver.decode import decoded
from stowplan.solver.eligibility import Eligibility
from stowplan.solver.interrupt import Interrupt, heeding_signals
from stowplan.solver.limits import Limits
from stowplan.solver.outcomes import decision_of
from stowplan.solver.requests import requests_of
from stowplan.solver.rule import Rule, rule
from stowplan.solver.rules import (
    accepting,
    array_limit,
    balance,
    budget,
    capabilities,
    complete_by,
    cpu,
    denied,
    drives,
    freshness,
    healthy_only,
    if_match,
    interconnect,
    interruptible,
    keep_within,
    machines,
    match_labels,
    max_accelerators,
    max_cost,
    max_nodes,
    max_rate,
    memory,
    min_gbps,
    min_memory_gb,
    min_nodes,
    min_per_machine,
    models,
    names,
    one_site,
    patience,
    per_node,
    pinned_ids,
    pools,
    pressure,
    queue,
    quota,
    reservation,
    reserved_for,
    room,
    scope,
    spread,
    state,
    transport,
    vendor,
)
from stowplan.solver.settings import Settings
from stowplan.solver.situation import Situation
from stowplan.solver.stages import solve_stages

RULES: Sequence[Rule] = (
    rule(state),
    rule(freshness),
    rule(pressure),
    rule(accepting, cost=40),
    rule(reserved_for, cost=32),
    rule(capabilities),
    rule(names, cost=14),
    rule(match_labels, cost=14),
    rule(pools, cost=32),
    rule(interconnect, cost=12),
    rule(min_gbps, cost=10),
    rule(spread, cost=10),
    rule(cpu, cost=50),
    rule(memory, cost=50),
    rule(models, cost=15),
    rule(vendor, cost=15),
    rule(min_memory_gb, cost=14),
    rule(pinned_ids, cost=14),
    rule(denied, cost=40),
    rule(healthy_only, cost=16),
    rule(room, cost=50),
    rule(max_accelerators, cost=40),
    rule(keep_within, cost=10),
    rule(max_nodes, cost=12),
    rule(min_nodes, cost=12),
    rule(min_per_machine, cost=12),
    rule(per_node),
    rule(patience, cost=10),
    rule(one_site),
    rule(scope, cost=12),
    rule(transport, cost=12),
    rule(drives),
    rule(reservation, cost=32),
    rule(machines, cost=12),
    rule(interruptible, cost=20),
    rule(max_rate, cost=20),
    rule(if_match, cost=20),
    rule(max_cost, cost=20),
    rule(budget, cost=24),
    rule(balance, cost=24),
    rule(complete_by, cost=20),
    rule(quota, cost=30),
    rule(array_limit, cost=30),
    rule(queue, cost=30),
)
"""Every rule, in the order of the filters: the first that a host fails decides."""


def solve(
    snapshot: Snapshot, settings: Settings | None = None, watcher: Watcher = unwatched
) -> Decision:
    """Return the decision of one cycle; its audit has passed.

    The same snapshot and settings give the same decision, wall times and log aside. Runs that
    wait are an answer. Raises InternalError where our own model or decision turns out wrong:
    then nothing is decided. In the main thread, Ctrl-C ends the search and the best decision so
    far is returned. The watcher is told of progress, in the thread that solves, and at once of
    Ctrl-C.
    """
    settings = settings or Settings.of(snapshot)
    with heeding_signals(lambda: watcher(Progress(STOPPING))) as interrupt, uncollected():
        watcher(Progress(BUILDING))
        return _decided(snapshot, settings, interrupt, watcher)


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Let the garbage collector rest: it would walk the whole snapshot again and again.

    A cycle makes many objects and hardly a loop of them; at size this halves the time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _decided(
    snapshot: Snapshot, settings: Settings, interrupt: Interrupt, watcher: Watcher
) -> Decision:
    eligibility = Eligibility.of(RULES, snapshot)
    requests = requests_of(snapshot, eligibility, settings.profile)
    classes = classes_of(requests.asked, snapshot)
    limits = Limits(snapshot, classes, eligibility)
    chain = Chain(settings, interrupt, watcher)
    layout, grid = solve_stages(classes, eligibility, limits, chain)
    chain.tell(EXPLAINING)
    situation = Situation(
        snapshot=snapshot,
        limits=limits,
        classes=classes,
        grid=grid,
        plan=decoded(layout),
        proven=chain.stages[0].status == "OPTIMAL",
    )
    decision = decision_of(situation, requests, account_of(chain, settings), settings)
    chain.tell(CHECKING)
    _check(snapshot, decision)
    return decision


def _check(snapshot: Snapshot, decision: Decision) -> None:
    """Raise InternalError where a decision breaks a rule."""
    if violations := audit(snapshot, decision):
        raise InternalError(
            "the decision breaks its own rules, and nothing is placed: "
            + "; ".join(str(violation) for violation in violations[:5])
        )
