"""Search in steps: a large program first over the variables that its relaxation uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from stowplan.solver.interrupt import Interrupt
from stowplan.solver.program.linear import Goal, Program, Row
from stowplan.solver.program.relaxed import relaxed
from stowplan.solver.program.search import Found, Limits, search

RESTRICTED = 2000
"""Variables past which a program is first searched over those that relaxation or hint use."""
OF_FIRST = 0.5
"""The share of the time that this search has at most."""


def search_in_steps(
    program: Program,
    goal: Goal,
    hint: Sequence[int],
    limits: Limits,
    *,
    trivial: int,
    fixed: Mapping[int, int],
    also: Sequence[Row] = (),
    interrupt: Interrupt | None = None,
) -> Found:
    """Return the best values found for a goal, as `search` does; the bound is of the whole program.

    Products aren't part of the relaxation: a program that has any is searched at once.
    """
    if len(program.upper) <= RESTRICTED or program.products:
        return search(
            program, goal, hint, limits,
            trivial=trivial, fixed=fixed, also=also, interrupt=interrupt,
        )  # fmt: skip
    found = relaxed(program, goal, hint, fixed, trivial, also)
    unused = {
        column: 0 for column, at in enumerate(hint) if not at and found.amounts.get(column, 0) <= 0
    }
    first = search(
        program,
        goal,
        hint,
        replace(limits, deterministic=limits.deterministic * OF_FIRST),
        trivial=found.bound,
        fixed={**unused, **fixed},
        also=also,
        interrupt=interrupt,
    )
    missing = abs(first.objective - found.bound)
    if missing <= limits.gap * max(1, abs(first.objective)):
        return replace(first, bound=found.bound, status="OPTIMAL", cut=None)
    left = max(1e-3, limits.deterministic - first.deterministic)
    second = search(
        program,
        goal,
        first.values,
        replace(limits, deterministic=left, wall_s=limits.wall_s - first.wall_s),
        trivial=found.bound,
        fixed=fixed,
        also=also,
        interrupt=interrupt,
    )
    return replace(
        second,
        wall_s=first.wall_s + second.wall_s,
        deterministic=first.deterministic + second.deterministic,
        log=f"{first.log}\n{second.log}",
    )
