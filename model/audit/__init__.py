"""The independent checker: whether a decision keeps every rule, found without any solver.

It trusts nothing in a decision that the snapshot can tell, and works out free room, shapes and
demands for itself, so that a mistake made while deciding can't hide here. One module is one rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from stowplan.model.audit import (
    accepting,
    access,
    account,
    array_limit,
    balance,
    budget,
    capabilities,
    complete_by,
    cpu,
    denied,
    drives,
    estimate,
    freshness,
    healthy_only,
    holds,
    if_match,
    interconnect,
    interruptible,
    keep_within,
    ladder,
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
    outcomes,
    patience,
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
    value,
    vendor,
)
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.decision import Decision
from stowplan.model.snapshot import Snapshot

__all__ = ["CHECKS", "Violation", "audit"]

CHECKS: tuple[Callable[[Plan], Iterator[Violation]], ...] = (
    state.check,
    freshness.check,
    pressure.check,
    accepting.check,
    reserved_for.check,
    capabilities.check,
    names.check,
    match_labels.check,
    pools.check,
    interconnect.check,
    min_gbps.check,
    spread.check,
    cpu.check,
    memory.check,
    models.check,
    min_memory_gb.check,
    vendor.check,
    healthy_only.check,
    pinned_ids.check,
    denied.check,
    max_accelerators.check,
    room.check,
    keep_within.check,
    one_site.check,
    scope.check,
    transport.check,
    machines.check,
    max_nodes.check,
    min_nodes.check,
    min_per_machine.check,
    patience.check,
    drives.check,
    reservation.check,
    interruptible.check,
    complete_by.check,
    max_rate.check,
    if_match.check,
    max_cost.check,
    budget.check,
    balance.check,
    quota.check,
    array_limit.check,
    queue.check,
    value.check,
    estimate.check,
    ladder.check,
    access.check,
    holds.check,
    outcomes.check,
    account.check,
)
"""Every check, in the order of the rules."""


def audit(snapshot: Snapshot, decision: Decision) -> tuple[Violation, ...]:
    """Return everything in which the decision breaks a rule; empty: it keeps them all."""
    plan = Plan.of(snapshot, decision)
    return tuple(violation for check in CHECKS for violation in check(plan))
