"""What this cycle has to decide: runs that ask for a place, and those that never will get one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from stowplan.model.holds import is_superseded
from stowplan.model.reasons import Code, Reason
from stowplan.model.runs import Profile, Run
from stowplan.model.shape import shape_of
from stowplan.model.snapshot import Snapshot
from stowplan.model.wording import nearest
from stowplan.solver.asks import Ask, ask_of, waiting_elements
from stowplan.solver.eligibility import Eligibility


@dataclass(frozen=True)
class Requests:
    """Runs that ask, and runs that are refused."""

    asked: Sequence[tuple[Run, Ask]]
    refused: Mapping[str, Reason]
    """By the run's name; of an array that runs, why its other elements never will."""


def requests_of(snapshot: Snapshot, eligibility: Eligibility, profile: Profile) -> Requests:
    """Return what each run that isn't in its place asks, or why it is refused."""
    asked: list[tuple[Run, Ask]] = []
    refused: dict[str, Reason] = {}
    for run in snapshot.runs:
        if not _asks(run, snapshot):
            continue
        shape = shape_of(run)
        if isinstance(shape, Reason):
            refused[run.name] = shape
            continue
        ask = ask_of(run, shape, snapshot, profile, is_priced=eligibility.prices.is_priced)
        reason = _unknown_name(run, snapshot) or _no_pool(ask, snapshot, eligibility)
        if reason:
            refused[run.name] = reason
            continue
        if ask.tasks is None:
            everywhere = [
                host
                for host in eligibility.listed(ask)
                if eligibility.admits(ask, host, host.empty)
            ]
            ask = replace(ask, tasks=len(everywhere))
        asked.append((run, ask))
    return Requests(asked, refused)


def is_in_place(run: Run) -> bool:
    """Whether an earlier cycle placed it: then it stays or goes, and is never refused."""
    return run.state != "pending" or bool(run.placed and run.placed.workers)


def _asks(run: Run, snapshot: Snapshot) -> bool:
    if run.array:
        stays_out = run.state == "stopped" or is_superseded(run, snapshot)
        return not stays_out and bool(waiting_elements(run))
    return run.state == "pending"


def _unknown_name(run: Run, snapshot: Snapshot) -> Reason | None:
    unknown = tuple(name for name in run.node_selection.names if name not in snapshot.machines)
    if not unknown or not snapshot.machines:
        return None
    close = nearest(unknown[0], snapshot.machines)
    meant = f"; did you mean '{close}'?" if close else ""
    return Reason.of(
        Code.NOT_SELECTED,
        f"no machine is called '{unknown[0]}'{meant}",
        unknown=unknown,
        nearest=close,
    )


def _no_pool(ask: Ask, snapshot: Snapshot, eligibility: Eligibility) -> Reason | None:
    if ask.pools is None or not snapshot.machines or snapshot.fleet.offerings:
        return None  # pools bind machines only
    if any(host.labels.get("pool") in ask.pools for host in eligibility.hosts):
        return None
    workspace = snapshot.workspaces[ask.workspace]
    own = ", ".join(ask.pools) or "no pool"
    terms = f"; {workspace.terms.pool}" if workspace.terms and workspace.terms.pool else ""
    return Reason.of(
        Code.POOL_RESTRICTED,
        f"workspace {ask.workspace} may use {own} only, and no machine is in it{terms}",
        pools=ask.pools,
    )
