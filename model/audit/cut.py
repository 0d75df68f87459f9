"""How the audit itself cuts a run into workers, so that a mistake in the shape can't hide."""

from __future__ import annotations

from typing import NamedTuple

from stowplan.model.runs import Run


class Cut(NamedTuple):
    """What a run's workers are; an array's are those of one element."""

    workers: int | None
    """None: one on every machine that could take it."""
    gpus_each: int
    may_share: bool
    """Whether two of its workers may be on one machine."""
    uneven: str | None
    """Why the run can't be cut as it asks, where it can't."""


def cut_of(run: Run) -> Cut:
    """Return how many workers the run has, with how many GPUs each."""
    gpus, chosen = run.gpus.count, run.node_selection
    if run.array:
        return Cut(1, gpus, True, _too_few(run, gpus))
    if chosen.mode == "all":
        return Cut(None, gpus, False, None)
    if run.machines is not None:
        workers = run.machines
    elif gpus == 0 and chosen.count is not None:
        workers = chosen.count
    elif chosen.mode == "exact" and chosen.names:
        workers = len(set(chosen.names))
    else:
        workers = 1
    each, rest = divmod(gpus, workers)
    uneven = f"{gpus} GPUs don't divide over {workers} workers" if rest else _too_few(run, each)
    return Cut(workers, each, chosen.mode == "any" and run.machines is None, uneven)


def _too_few(run: Run, each: int) -> str | None:
    least = run.gpus.min_per_machine
    if each and least is not None and each < least:
        return f"{each} GPUs each, fewer than min_per_machine {least}"
    return None
