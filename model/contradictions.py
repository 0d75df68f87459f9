"""Rules of one run that no fleet could keep together: how many workers, together and apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from stowplan.model.errors import Path, Problem
from stowplan.model.runs import Run


class _Several(NamedTuple):
    """What makes a run one of several workers."""

    words: str
    workers: int
    may_share: bool
    """Whether two of them may be on one machine."""


def contradictions(run: Run, path: Path) -> Iterator[Problem]:
    """Yield the pairs of fields of a run, at that path, of which each rules the other out."""
    least, most = run.topology.min_nodes, run.topology.max_nodes
    if run.array:
        yield from _of_elements(run, path)
        return
    if least is not None and most is not None and least > most:
        message = f"{least} is more than max_nodes {most}"
        yield Problem((*path, "topology", "min_nodes"), message, "it is at most max_nodes")
    several = _several(run)
    if several is not None:
        yield from _together_and_apart(run, path, several)


def _of_elements(run: Run, path: Path) -> Iterator[Problem]:
    """Find a number of machines for an element of an array, which is on one."""
    for field in ("min_nodes", "max_nodes"):
        if getattr(run.topology, field) not in (None, 1):
            message = "an array's element is one worker on one machine"
            hint = f"leave {field} out"
            if field == "max_nodes":
                hint += "; array.max_parallel bounds how many run at once"
            yield Problem((*path, "topology", field), message, hint)


def _together_and_apart(run: Run, path: Path, several: _Several) -> Iterator[Problem]:
    """Find several workers that are to be in one unit, and each in one of its own."""
    within, spread = run.topology.keep_within, run.topology.spread
    where = (*path, "topology", "keep_within")
    if within == "node" and spread is None and not several.may_share:
        message = f"node is one machine, and {several.words} asks for {several.workers}"
        yield Problem(where, message, "leave one of them out")
    elif within is not None and spread is not None and within in (spread, "node"):
        message = f"{within} keeps its workers in one, and spread {spread} each in its own"
        made = f"{several.words} makes {several.workers} of them"
        yield Problem(where, f"{message}; {made}", "leave one of them out")


def _several(run: Run) -> _Several | None:
    """Return what asks for more than one worker, in every shape; None: one would do."""
    chosen, least = run.node_selection, run.topology.min_nodes or 1
    is_exact = chosen.mode == "exact"
    if run.machines is not None:
        found = _Several(f"machines {run.machines}", run.machines, may_share=False)
    elif chosen.count is not None and not run.gpus.count:
        words = f"node_selection.count {chosen.count}"
        found = _Several(words, chosen.count, may_share=chosen.mode == "any" and not _apart(run))
    elif is_exact and chosen.names:
        count = len(chosen.names)
        found = _Several(f"node_selection.names of {count}", count, may_share=False)
    else:
        found = _Several(f"min_nodes {least}", least, may_share=False)
    if found.workers < least:  # such a shape is refused, or has as many
        found = _Several(f"min_nodes {least}", least, may_share=False)
    return found if found.workers > 1 else None


def _apart(run: Run) -> bool:
    """Whether what it says of its shape keeps its workers on machines of their own."""
    topology = run.topology
    return bool(topology.min_nodes or topology.max_nodes or topology.spread or run.gpus.policy)
