"""What this cycle has to decide: runs that ask for a place, and those that never will get one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stowplan.model.holds import is_superseded
from stowplan.model.reasons import Code, Reason
from stowplan.model.runs import Profile, Run
from stowplan.model.shape import Shape
from stowplan.model.snapshot import Snapshot
from stowplan.model.wording import nearest
from stowplan.solver.asks import Ask, Asked, ask_of, waiting_elements
from stowplan.solver.eligibility import Eligibility
from stowplan.solver.rooms import Rooms
from stowplan.solver.shapes import open_shape_over, open_shapes
from stowplan.solver.telling import Telling


@dataclass(frozen=True)
class Requests:
    """Runs that ask, and runs that are refused."""

    asked: Sequence[Asked]
    refused: Mapping[str, Reason]
    """By the run's name; of an array that runs, why its other elements never will."""


def requests_of(snapshot: Snapshot, eligibility: Eligibility, profile: Profile) -> Requests:
    """Return what each run that isn't in its place asks, or why it is refused."""
    asked: list[Asked] = []
    refused: dict[str, Reason] = {}
    telling = Telling(eligibility)
    for run in snapshot.runs:
        if not _asks(run, snapshot):
            continue
        shapes = open_shapes(run, eligibility.rules)
        if isinstance(shapes, Reason):
            refused[run.name] = shapes
            continue

        def ask(shape: Shape, run: Run = run) -> Ask:
            priced = eligibility.prices.is_priced
            return ask_of(run, shape, snapshot, profile, is_priced=priced)

        ways = tuple(ask(shape) for shape in shapes)
        reason = _unknown_name(run, snapshot) or _no_pool(ways[0], snapshot, eligibility)
        if not reason and ways[0].tasks is None:
            one = Shape(1, min(1, run.gpus.count), may_share=False)
            shape = open_shape_over(run, _everywhere(ask(one), telling.empty), eligibility.rules)
            if isinstance(shape, Reason):
                reason = shape
            else:
                ways = (ask(shape),)
        if reason:
            refused[run.name] = reason
        else:
            asked.append(Asked(run, telling.shape(ways), ways))
    return Requests(asked, refused)


def _everywhere(ask: Ask, empty: Rooms) -> int:
    """Return on how many machines a run of one worker could be that asks this, were they empty.

    What binds several workers together keeps none of them out: a machine that isn't labelled as
    `spread` asks is one of those that the run asks for, and the run waits for its label.
    """
    slots = empty.slots(ask)
    return sum(
        bool(slots[host.place]) and not host.offering for host in empty.eligibility.listed(ask)
    )


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
