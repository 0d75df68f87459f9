"""A linear program, built row by row and solved by HiGHS."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import highspy
import numpy as np

type Terms = list[tuple[int, float]]
"""Columns, each with what it is multiplied by."""


@dataclass
class Program:
    """Columns from 0 to an upper limit, and rows that their weighted sums keep to."""

    upper: list[float] = field(default_factory=list)
    least: list[float] = field(default_factory=list)
    most: list[float] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)
    _columns: list[int] = field(default_factory=list)
    _entries: list[float] = field(default_factory=list)

    def column(self, upper: float) -> int:
        """Add a column and return its number."""
        self.upper.append(upper)
        return len(self.upper) - 1

    def row(self, terms: Iterable[tuple[int, float]], least: float, most: float) -> None:
        """Add a row: the sum of the terms is from `least` to `most`."""
        self._starts.append(len(self._columns))
        for column, entry in terms:
            self._columns.append(column)
            self._entries.append(entry)
        self.least.append(least)
        self.most.append(most)

    def maximum(self, objective: Terms) -> float:
        """Return what the objective comes to at most."""
        if not self.upper:  # HiGHS won't say
            return 0
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = len(self.upper), len(self.most)
        program.sense_ = highspy.ObjSense.kMaximize
        costs = np.zeros(len(self.upper))
        for column, weight in objective:
            costs[column] = weight
        program.col_cost_ = costs
        program.col_lower_, program.col_upper_ = np.zeros(len(self.upper)), np.array(self.upper)
        program.row_lower_, program.row_upper_ = np.array(self.least), np.array(self.most)
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = np.array([*self._starts, len(self._columns)], np.int32)
        program.a_matrix_.index_ = np.array(self._columns, np.int32)
        program.a_matrix_.value_ = np.array(self._entries, float)
        solver = highspy.Highs()  # type: ignore[no-untyped-call]  # its stubs leave it out
        solver.silent()
        solver.passModel(program)
        solver.run()
        status = solver.getModelStatus()
        assert status == highspy.HighsModelStatus.kOptimal, solver.modelStatusToString(status)
        return float(solver.getInfo().objective_function_value)
