"""Evenly: of all ways to put the same runs into cells, one that leaves slack in each of them.

Cells that use almost all of their cores or memory can't be packed onto their hosts. So the greatest
shares of cores and memory in use are made as small as they go, cell by cell and over all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from stowplan.solver.choices import Choices
from stowplan.solver.program.linear import Goal, Row, Sum, total
from stowplan.solver.program.relaxed import relaxed

NEARLY = 1e-6
"""What is so near the next whole number is taken as it."""
WHOLE = 1000
"""Shares are counted in thousandths."""
WORST = 3
"""How much the worst cell counts beside the mean over all, in tenths."""


def spread_evenly(choices: Choices, values: Sequence[int], fixed: Mapping[int, int]) -> list[int]:
    """Return the values with the same runs, spread so that cells keep cores and memory free.

    The linear relaxation's answer, rounded: what a cell gets beyond what it holds isn't packed.
    """
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
    return _rounded(choices, values, relaxed(program, goal, full, fixed, 0).amounts)


def _rounded(choices: Choices, values: Sequence[int], amounts: Mapping[int, float]) -> list[int]:
    """Return whole workers near these amounts: as many of each signature as in the values."""
    rounded = list(values)
    for each in choices.signatures:
        columns = [
            column
            for cell in choices.cells_for(each)
            for column in choices.workers_in(each, cell).terms
        ]
        wanted = sum(values[column] for column in columns)
        parts = {
            column: math.modf(amounts.get(column, values[column]) + NEARLY) for column in columns
        }
        left = wanted - sum(int(whole) for _, whole in parts.values())
        by_rest = sorted(columns, key=lambda column: (-parts[column][0], column))
        for rank, column in enumerate(by_rest):
            rounded[column] = int(parts[column][1]) + (rank < left)
    return rounded
