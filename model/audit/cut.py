"""How the audit itself cuts a run into workers, so that a mistake in the shape can't hide."""

from __future__ import annotations

import functools
from typing import NamedTuple

from stowplan.model.runs import Run


class Shape(NamedTuple):
    """So many workers, with so many GPUs each."""

    workers: int
    gpus_each: int


class Cut(NamedTuple):
    """In which shapes a run may start; an array's are those of one element."""

    gpus: int
    counts: tuple[int, ...] | None
    """How many workers it may have by its machines, names and GPUs; None: it is on all machines."""
    may_share: bool
    """Whether two of its workers may be on one machine."""
    least: int
    most: int | None
    """The bounds of its workers (min_nodes, max_nodes)."""
    least_each: int
    """The fewest GPUs that one of them may have (min_per_machine); 0: any."""
    in_powers: bool
    """Whether each has a power of two of them (policy per_node)."""

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Every shape that is allowed, the fewest workers first; none where it is on all."""
        return tuple(
            Shape(workers, self.gpus // workers)
            for workers in self.counts or ()
            if not self.against(workers)
        )

    @property
    def uneven(self) -> str | None:
        """Why the run can't be cut at all as it asks, where it can't."""
        if self.counts is None or self.shapes:
            return None
        return self.against(self.counts[0])

    def against(self, workers: int) -> str | None:
        """Say why it can't be cut into so many workers, or None."""
        return (
            self.wrong(workers)
            or self.too_few(workers)
            or self.too_many(workers)
            or self.too_small(workers)
        )

    def wrong(self, workers: int) -> str | None:
        """Say why so many workers aren't those it asks for, its bounds aside, or None."""
        each, rest = divmod(self.gpus, workers)
        if rest:
            return f"{self.gpus} GPUs don't divide over {workers} workers"
        if self.counts is not None and workers not in self.counts:
            return f"starts with {workers} of {self.counts[0]} workers"
        if self.in_powers and each & (each - 1):
            return f"{each} GPUs each, and policy per_node asks for a power of two"
        return None

    def too_few(self, workers: int) -> str | None:
        """Say that so many workers are fewer than min_nodes, or None."""
        return f"{workers} workers, and min_nodes {self.least}" if workers < self.least else None

    def too_many(self, workers: int) -> str | None:
        """Say that so many workers are more than max_nodes, or None."""
        is_over = self.most is not None and workers > self.most
        return f"{workers} workers, and max_nodes {self.most}" if is_over else None

    def too_small(self, workers: int) -> str | None:
        """Say that each of so many workers has fewer GPUs than min_per_machine, or None."""
        each = self.gpus // workers
        if not self.gpus or each >= self.least_each:
            return None
        return f"{each} GPUs each, fewer than min_per_machine {self.least_each}"


def cut_of(run: Run) -> Cut:
    """Return in which shapes the run may start."""
    asked, topology = run.gpus, run.topology
    is_array = run.array is not None
    bounds = (run.machines, topology.min_nodes, topology.max_nodes, topology.spread, asked.policy)
    is_loose = run.node_selection.mode == "any" and all(bound is None for bound in bounds)
    return Cut(
        gpus=asked.count,
        counts=_counts(run),
        may_share=is_array or is_loose,
        least=1 if is_array else topology.min_nodes or 1,
        most=None if is_array else topology.max_nodes,
        least_each=asked.min_per_machine or 0,
        in_powers=asked.policy == "per_node" and asked.count > 0,
    )


def _counts(run: Run) -> tuple[int, ...] | None:
    gpus, chosen = run.gpus.count, run.node_selection
    if run.array:
        return (1,)
    if chosen.mode == "all":
        return None
    if run.machines is not None:
        return (run.machines,)
    if gpus == 0 and chosen.count is not None:
        return (chosen.count,)
    if chosen.mode == "exact" and chosen.names:
        return (len(set(chosen.names)),)
    return _divisors(gpus) if gpus else (1,)


@functools.cache
def _divisors(number: int) -> tuple[int, ...]:
    return tuple(each for each in range(1, number + 1) if number % each == 0)
