"""Between a layout and the values of a program's variables: what stands for what."""

from __future__ import annotations

from collections.abc import Sequence

from stowplan.solver.cells import Cell
from stowplan.solver.choices import Choices
from stowplan.solver.handout import handed_out
from stowplan.solver.layout import Layout


def values_of(choices: Choices, layout: Layout) -> list[int]:
    """Return the variables' values that a layout comes to."""
    values = [0] * len(choices.program.upper)
    for each in choices.signatures:
        for index, own in zip(each.members, each.classes, strict=True):
            for cohort, count in enumerate(layout.started[index]):
                for column in choices.starting(own, cohort).terms:
                    values[column] = count
    signature_of = {index: each for each in choices.signatures for index in each.members}
    for cell in choices.cells:
        for host in cell.hosts.tolist():
            for index, workers in layout.there[host].items():
                (column,) = choices.workers_in(signature_of[index], cell).terms
                values[column] += workers
        if len(cell.kinds) > 1:
            _hand_out(choices, cell, layout, values)
    return choices.program.completed(values)


def settle(choices: Choices, values: Sequence[int], layout: Layout) -> None:
    """Change a layout to what the values say; every cell is a single host."""
    for each in choices.signatures:
        for index, own in zip(each.members, each.classes, strict=True):
            layout.started[index] = [
                choices.starting(own, cohort).at(values) for cohort in range(len(own.cohorts))
            ]
            for cell in choices.cells_for(each):
                workers = choices.workers_in(each, cell).at(values)
                layout.set(index, int(cell.hosts[0]), workers)


def _hand_out(choices: Choices, cell: Cell, layout: Layout, values: list[int]) -> None:
    """Set how many GPUs of each kind go to each signature, where it may choose."""
    kinds = {(kind.at_risk, kind.users): kind for kind in cell.kinds}
    signature_of = {index: each for each in choices.signatures_in(cell) for index in each.members}
    for host in cell.hosts.tolist():
        for part in handed_out(choices.grid, host, layout.on(host)):
            each = signature_of[part.owner]
            if len(choices.kinds_for(each, cell)) > 1:
                (column,) = choices.gpus_of(each, kinds[part.at_risk, part.users]).terms
                values[column] += part.amount
