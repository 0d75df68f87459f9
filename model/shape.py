"""How a run is cut into workers, and what each of them needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stowplan.model.reasons import Code, Figure, Reason
from stowplan.model.runs import Run
from stowplan.model.types import millicores


@dataclass(frozen=True)
class Shape:
    """A run of `tasks` workers with `gpus_each` GPUs each."""

    tasks: int | None
    """None: one on every machine that could take it (mode `all`)."""
    gpus_each: int
    """With `tasks` None: of the whole run."""
    may_share: bool
    """Whether two of its workers may be on one machine."""


@dataclass(frozen=True)
class Demand:
    """What one worker takes from its machine, beside GPUs."""

    millicores: int
    memory_bytes: int


def shapes_of(run: Run) -> tuple[Shape, ...] | Reason:
    """Return the even cuts of a run over as many machines as it says, or UNEVEN_SHAPE: none is.

    The fewest workers come first. An array's shape is that of one element. The rules (min_nodes,
    max_nodes, min_per_machine, per_node) may leave fewer.
    """
    if not run.array and run.node_selection.mode == "all":
        return (Shape(None, run.gpus.count, may_share=False),)
    counts = tuple(_counts(run))
    cuts = [count for count in counts if run.gpus.count % count == 0]
    if not cuts:
        return uneven(
            run,
            f"{run.gpus.count} GPUs don't divide evenly over {counts[0]} machines",
            machines=counts[0],
        )
    share = _may_share(run)
    return tuple(Shape(count, run.gpus.count // count, share) for count in cuts)


def shape_over(run: Run, machines: int) -> Shape | Reason:
    """Return the shape of a run that is on every machine that could take it, and these are many."""
    if run.gpus.count and machines and run.gpus.count % machines:
        text = f"{run.gpus.count} GPUs don't divide evenly over the {machines} machines it may use"
        return uneven(run, text, machines=machines)
    return Shape(machines, run.gpus.count // max(1, machines), may_share=False)


def _counts(run: Run) -> Iterator[int]:
    """Yield how many workers a run may have, as far as it says so itself; the fewest first."""
    chosen, gpus = run.node_selection, run.gpus.count
    if run.array:
        yield 1
    elif run.machines:
        yield run.machines
    elif chosen.count and not gpus:
        yield chosen.count
    elif chosen.mode == "exact" and chosen.names:
        yield len(chosen.names)
    elif gpus:
        yield from divisors(gpus)
    else:
        yield 1


def divisors(number: int) -> list[int]:
    """Return the divisors of a number, ascending."""
    low = [each for each in range(1, int(number**0.5) + 1) if number % each == 0]
    return sorted({*low, *(number // each for each in low)})


def _may_share(run: Run) -> bool:
    """Whether workers may be on one machine: where the run says nothing of its machines."""
    bound = (
        run.machines,
        run.topology.min_nodes,
        run.topology.max_nodes,
        run.gpus.policy,
        run.topology.spread,
    )
    return run.node_selection.mode == "any" and not any(bound)


def uneven(run: Run, text: str, **numbers: Figure) -> Reason:
    """Return UNEVEN_SHAPE of a run, in words and numbers."""
    return Reason.of(Code.UNEVEN_SHAPE, text, gpus=run.gpus.count, **numbers)


def demand_of(run: Run, gpus: int) -> Demand:
    """Return what a worker with this many GPUs takes: the fixed ask and the ask for each GPU."""
    return Demand(
        millicores(run.cpu_cores) + gpus * millicores(run.per_gpu.cpu_cores),
        run.memory_bytes + gpus * run.per_gpu.memory_bytes,
    )
