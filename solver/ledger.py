"""A running account of the rows that bind how many runs start: quotas, arrays, strict queues."""

from __future__ import annotations

from collections.abc import Mapping

from stowplan.solver.choices import Choices
from stowplan.solver.layout import Layout
from stowplan.solver.program.linear import UNBOUNDED


class Ledger:
    """What each row over starts comes to in a layout, and how many more runs it allows.

    A layout keeps by itself what its hosts' room allows; these rows are all that is left.
    """

    def __init__(self, choices: Choices, layout: Layout) -> None:
        """Start from what starts in a layout."""
        self._column: dict[tuple[int, int], int] = {}
        for index, each in enumerate(choices.classes):
            for cohort in range(len(each.cohorts)):
                for column in choices.starting(each, cohort).terms:
                    self._column[index, cohort] = column
        values = {
            column: layout.started[index][cohort]
            for (index, cohort), column in self._column.items()
        }
        self._rows = [row for row in choices.program.rows if row.terms.keys() <= values.keys()]
        self._of: dict[int, list[tuple[int, int]]] = {column: [] for column in values}
        for position, row in enumerate(self._rows):
            for column, value in row.terms.items():
                self._of[column].append((position, value))
        self._activity = [_at(row.terms, values) for row in self._rows]

    def more(self, index: int, cohort: int, most: int) -> int:
        """Return how many more runs of a cohort may start, at most so many."""
        if (index, cohort) not in self._column:
            return 0
        for position, value in self._of[self._column[index, cohort]]:
            row, activity = self._rows[position], self._activity[position]
            if value > 0 and row.high != UNBOUNDED:
                most = min(most, (row.high - activity) // value)
            elif value < 0 and row.low != -UNBOUNDED:
                most = min(most, (activity - row.low) // -value)
        return max(0, most)

    def holds(self) -> bool:
        """Whether no row is broken."""
        return all(
            row.low <= activity <= row.high
            for row, activity in zip(self._rows, self._activity, strict=True)
        )

    def start(self, index: int, cohort: int, runs: int) -> None:
        """Count so many more runs of a cohort."""
        for position, value in self._of[self._column[index, cohort]]:
            self._activity[position] += value * runs


def _at(terms: Mapping[int, int], values: Mapping[int, int]) -> int:
    return sum(value * values[column] for column, value in terms.items())
