"""Evenly: of all ways to put the same runs into cells, one that leaves slack in each of them.

Cells that use almost all of their cores or memory can't be packed onto their hosts. So the greatest
shares of cores and memory in use are made as small as they go, cell by cell and over all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stowplan.solver.choices import Choices
from stowplan.solver.interrupt import Interrupt
from stowplan.solver.linear import Goal, Row, Sum, total
from stowplan.solver.search import Limits, search

WHOLE = 1000
"""Shares are counted in thousandths."""
WORST = 3
"""How much the worst cell counts beside the mean over all, in tenths."""


def spread_evenly(
    choices: Choices,
    values: Sequence[int],
    fixed: Mapping[int, int],
    limits: Limits,
    interrupt: Interrupt,
) -> list[int]:
    """Return the values with the same runs, spread so that cells keep cores and memory free."""
    program = choices.program.copy()
    worst = program.variable(WHOLE)
    rows: list[Row] = []
    weighed: list[Sum] = [worst * WORST * sum(len(cell.hosts) for cell in choices.cells)]
    full = list(values)
    full.append(WHOLE)
    for cell in choices.cells:
        asked = (
            (choices.millicores_taken(cell), cell.millicores),
            (choices.memory_taken(cell), cell.memory_bytes),
        )
        taken = [(amount, free) for amount, free in asked if amount and free]
        if not taken:
            continue
        share = program.variable(WHOLE)
        full.append(WHOLE)
        rows += [amount * WHOLE <= share * free for amount, free in taken]
        rows.append(share <= worst)
        weighed.append(share * 10 * len(cell.hosts))
    if len(weighed) == 1:
        return list(values)
    program.post("evenly", rows)
    goal = Goal(total(weighed), maximise=False)
    found = search(
        program,
        goal,
        full,
        limits,
        trivial=0,
        fixed=fixed,
        interrupt=interrupt,
        hinted=False,
    )
    return found.values[: len(values)]
