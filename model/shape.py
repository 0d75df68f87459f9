"""How a run is cut into workers, and what each of them needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

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
    """Return the ways in which a run may be cut, or UNEVEN_SHAPE where there is none.

    The fewest workers come first. An array's shape is that of one element.
    """
    if not run.array and run.node_selection.mode == "all":
        return (Shape(None, run.gpus.count, may_share=False),)
    counts = tuple(_counts(run))
    cuts = [count for count in counts if run.gpus.count % count == 0]
    if not cuts:
        return _uneven(
            run,
            f"{run.gpus.count} GPUs don't divide evenly over {counts[0]} machines",
            machines=counts[0],
        )
    share = _may_share(run)
    against = [_unlike(run, count) for count in cuts]
    found = tuple(
        Shape(count, run.gpus.count // count, share)
        for count, why in zip(cuts, against, strict=True)
        if why is None
    )
    if found:
        return found
    why = against[0]
    assert why is not None
    return _uneven(run, why.text, machines=cuts[0], **{why.field: why.figure})


def shape_over(run: Run, machines: int) -> Shape | Reason:
    """Return the shape of a run that is on every machine that could take it, and these are many."""
    if run.gpus.count and machines and run.gpus.count % machines:
        text = f"{run.gpus.count} GPUs don't divide evenly over the {machines} machines it may use"
        return _uneven(run, text, machines=machines)
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


def _unlike(run: Run, tasks: int) -> _Against | None:
    """Return what speaks against so many workers; None: nothing does."""
    gpus, wanted = run.gpus.count, run.topology
    each, least = gpus // tasks, run.gpus.min_per_machine
    machines = "machine" if tasks == 1 else "machines"
    cut = f"{gpus} GPUs over {tasks} {machines}" if gpus else f"{tasks} {machines}"
    if wanted.min_nodes and tasks < wanted.min_nodes and not run.array:
        return _Against("min_nodes", wanted.min_nodes, f"{cut}: fewer than min_nodes asks")
    if wanted.max_nodes and tasks > wanted.max_nodes and not run.array:
        return _Against("max_nodes", wanted.max_nodes, f"{cut}: more than max_nodes allows")
    if gpus and least and each < least:
        text = f"{cut} is {each} each, fewer than min_per_machine {least}"
        return _Against("min_per_machine", least, text)
    if gpus and run.gpus.policy == "per_node" and each & (each - 1):
        text = f"{cut} is {each} each, not a power of two as policy per_node asks"
        return _Against("gpus_each", each, text)
    return None


class _Against(NamedTuple):
    """The field that speaks against a number of workers, what it says, and in words."""

    field: str
    figure: int
    text: str


def _uneven(run: Run, text: str, **numbers: Figure) -> Reason:
    return Reason.of(Code.UNEVEN_SHAPE, text, gpus=run.gpus.count, **numbers)


def demand_of(run: Run, gpus: int) -> Demand:
    """Return what a worker with this many GPUs takes: the fixed ask and the ask for each GPU."""
    return Demand(
        millicores(run.cpu_cores) + gpus * millicores(run.per_gpu.cpu_cores),
        run.memory_bytes + gpus * run.per_gpu.memory_bytes,
    )
