"""The ways in which a run may be cut into workers."""

from __future__ import annotations

from typing import NamedTuple

from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.witness.fits import refusals, slots
from tests.witness.machines import rooms
from tests.witness.places import bad_ports


class Shape(NamedTuple):
    """So many workers with so many GPUs each."""

    workers: int
    gpus: int
    may_share: bool
    """Whether two of them may be on one machine."""


def worker_of(run: Run, gpus: int) -> Run:
    """One worker with so many GPUs, told as a run of its own."""
    asked = run.gpus.model_copy(update={"count": gpus, "min_per_machine": None})
    return run.model_copy(update={"gpus": asked, "machines": 1})


def shapes(snapshot: Snapshot, run: Run) -> list[Shape]:
    """Every shape that the run allows; none where it must be refused or can never be cut.

    An array's is that of an element.
    """
    gpus = run.gpus.count
    if run.array:
        counts = [1]
    elif run.node_selection.mode == "all":
        counts = [len(everywhere(snapshot, run))]
    elif told := _told(run):
        counts = [told]
    else:
        counts = list(range(1, max(1, gpus) + 1)) if gpus else [1]
    share = _may_share(run)
    cut = [Shape(k, gpus // k, share) for k in counts if k and gpus % k == 0]
    return [shape for shape in cut if _is_as_asked(run, shape)]


def everywhere(snapshot: Snapshot, run: Run) -> list[str]:
    """The machines that mode `all` means: with nothing on them, each takes a worker of one GPU."""
    empty, worker = rooms(snapshot, empty=True), worker_of(run, min(1, run.gpus.count))
    return [
        machine.name
        for machine in snapshot.fleet.machines
        if slots(snapshot, machine, worker, empty) and not bad_ports(machine, run)
    ]


def codes_of_refusal(snapshot: Snapshot, run: Run) -> list[str]:
    """The codes for which the run is refused, whatever the room."""
    told = refusals(snapshot, worker_of(run, run.gpus.count))
    is_nowhere = run.node_selection.mode == "all" and not everywhere(snapshot, run)
    return told if is_nowhere or shapes(snapshot, run) else [*told, "UNEVEN_SHAPE"]


def _told(run: Run) -> int | None:
    """How many workers the run itself says that it has."""
    chosen = run.node_selection
    if run.machines:
        return run.machines
    if chosen.count:
        return chosen.count
    return len(chosen.names) if chosen.mode == "exact" and chosen.names else None


def _may_share(run: Run) -> bool:
    wanted = run.topology
    is_bound = (
        run.machines or run.gpus.policy or wanted.min_nodes or wanted.max_nodes or wanted.spread
    )
    return run.node_selection.mode == "any" and not is_bound


def _is_as_asked(run: Run, shape: Shape) -> bool:
    wanted = run.topology
    least, most = wanted.min_nodes or 1, wanted.max_nodes or shape.workers
    if not run.array and not least <= shape.workers <= most:
        return False
    if run.gpus.count and shape.gpus < (run.gpus.min_per_machine or 0):
        return False
    return not (run.gpus.policy == "per_node" and shape.gpus.bit_count() > 1)
