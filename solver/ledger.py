"""A running account of the program's rows: what each comes to, and how much more it allows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from stowplan.solver.linear import UNBOUNDED, Program, Sum


class Ledger:
    """Values of the variables, and what each row and each watched sum comes to with them."""

    def __init__(
        self, program: Program, values: list[int], watched: Mapping[Hashable, Sum]
    ) -> None:
        """Start from values that keep every row."""
        self.values = values
        self.totals = {key: terms.at(values) for key, terms in watched.items()}
        """What the watched sums come to."""
        self._watching: list[list[tuple[Hashable, int]]] = [[] for _ in program.upper]
        for key, terms in watched.items():
            for column, value in terms.terms.items():
                self._watching[column].append((key, value))
        self._rows = program.rows
        self._upper = program.upper
        self._of_column: list[list[tuple[int, int]]] = [[] for _ in program.upper]
        for index, row in enumerate(program.rows):
            for column, value in row.terms.items():
                self._of_column[column].append((index, value))
        self._activity = [Sum(row.terms).at(values) for row in program.rows]

    def times(self, move: Mapping[int, int], most: int) -> int:
        """Return how often a move can be made, at most this often, before a row breaks."""
        change: dict[int, int] = {}
        for column, amount in move.items():
            if amount > 0:
                most = min(most, (self._upper[column] - self.values[column]) // amount)
            for row, value in self._of_column[column]:
                change[row] = change.get(row, 0) + value * amount
        for row, amount in change.items():
            if amount > 0 and self._rows[row].high != UNBOUNDED:
                most = min(most, (self._rows[row].high - self._activity[row]) // amount)
            elif amount < 0 and self._rows[row].low != -UNBOUNDED:
                most = min(most, (self._activity[row] - self._rows[row].low) // -amount)
            if most <= 0:
                return 0
        return most

    def make(self, move: Mapping[int, int], times: int = 1) -> None:
        """Make a move."""
        for column, amount in move.items():
            self.values[column] += amount * times
            for row, value in self._of_column[column]:
                self._activity[row] += value * amount * times
            for key, value in self._watching[column]:
                self.totals[key] += value * amount * times
