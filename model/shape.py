"""How a run is cut into workers, and what each of them needs."""

from __future__ import annotations

from dataclasses import dataclass

from stowplan.model.reasons import Code, Reason
from stowplan.model.runs import Run
from stowplan.model.types import millicores


@dataclass(frozen=True)
class Shape:
    """A run of `tasks` workers with `gpus_each` GPUs each."""

    tasks: int | None
    """None: one on every machine that could take it (mode `all`)."""
    gpus_each: int
    may_share: bool
    """Whether two of its workers may be on one machine."""


@dataclass(frozen=True)
class Demand:
    """What one worker takes from its machine, beside GPUs."""

    millicores: int
    memory_bytes: int


def shape_of(run: Run) -> Shape | Reason:
    """Return how the run is cut, or UNEVEN_SHAPE where it can't be cut as asked.

    An array's shape is that of one element.
    """
    tasks = _tasks(run)
    gpus = run.gpus.count
    if tasks is None:
        return Shape(None, gpus, may_share=False)
    if gpus % tasks:
        return Reason.of(
            Code.UNEVEN_SHAPE,
            f"{gpus} GPUs don't divide evenly over {tasks} machines",
            gpus=gpus,
            machines=tasks,
        )
    least = run.gpus.min_per_machine or 0
    if gpus and gpus // tasks < least:
        return Reason.of(
            Code.UNEVEN_SHAPE,
            f"{gpus} GPUs over {tasks} machines is {gpus // tasks} each, fewer than "
            f"min_per_machine {least}",
            gpus=gpus,
            machines=tasks,
            min_per_machine=least,
        )
    share = run.node_selection.mode == "any" and run.machines is None
    return Shape(tasks, gpus // tasks, may_share=share)


def _tasks(run: Run) -> int | None:
    chosen = run.node_selection
    if run.array:
        return 1
    if chosen.mode == "all":
        return None
    if run.machines:
        return run.machines
    if chosen.count and not run.gpus.count:
        return chosen.count
    if chosen.mode == "exact" and chosen.names:
        return len(chosen.names)
    return 1


def demand_of(run: Run, gpus: int) -> Demand:
    """Return what a worker with this many GPUs takes: the fixed ask and the ask for each GPU."""
    return Demand(
        millicores(run.cpu_cores) + gpus * millicores(run.per_gpu.cpu_cores),
        run.memory_bytes + gpus * run.per_gpu.memory_bytes,
    )
