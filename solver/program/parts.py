"""A program in parts that share no row: each can be solved without the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from stowplan.solver.program.linear import UNBOUNDED, Goal, Product, Program, Row, Sum


@dataclass
class Part:
    """Some of a program's variables, by their new order, and all that is said of them."""

    columns: list[int] = field(default_factory=list)
    """Their place in the program."""
    lower: list[int] = field(default_factory=list)
    upper: list[int] = field(default_factory=list)
    hint: list[int] = field(default_factory=list)
    goal: dict[int, int] = field(default_factory=dict)
    """The goal's terms here."""
    rows: list[Row] = field(default_factory=list)
    products: list[Product] = field(default_factory=list)

    def add(self, column: int, lower: int, upper: int, hint: int) -> int:
        """Add a variable of the program; return its place here."""
        self.columns.append(column)
        self.lower.append(lower)
        self.upper.append(upper)
        self.hint.append(hint)
        return len(self.columns) - 1

    def value(self, values: Sequence[int]) -> int:
        """Return what the goal comes to here."""
        return sum(value * values[column] for column, value in self.goal.items())

    def range(self) -> tuple[int, int]:
        """Return the least and the greatest value of the goal that the bounds allow."""
        ends = [
            sorted((value * self.lower[column], value * self.upper[column]))
            for column, value in self.goal.items()
        ]
        return sum(low for low, _ in ends), sum(high for _, high in ends)


def parts_of(
    program: Program,
    goal: Goal,
    hint: Sequence[int],
    fixed: Mapping[int, int],
    also: Iterable[Row] = (),
) -> list[Part]:
    """Return the parts that the goal depends on, the fixed variables put in at their values."""
    rows = [*program.rows, *also]
    leader = _leaders(program, rows, fixed)
    asked = {leader[column] for column in goal.terms.terms if column not in fixed}
    parts: dict[int, Part] = {first: Part() for first in sorted(asked)}
    place: dict[int, int] = {}
    for column, first in enumerate(leader):
        if column not in fixed and first in parts:
            place[column] = parts[first].add(
                column, program.lower[column], program.upper[column], hint[column]
            )

    def owner(columns: Iterable[int]) -> Part | None:
        return next((parts[leader[column]] for column in columns if column in place), None)

    for column, value in goal.terms.terms.items():
        if column in place:
            parts[leader[column]].goal[place[column]] = value
    for row in rows:
        if part := owner(row.terms):
            part.rows.append(_shrunk(row, place, hint))
    for product in program.products:
        if part := owner((product.target,)):
            left, right = (_narrowed(each, place, hint) for each in (product.left, product.right))
            part.products.append(Product(place[product.target], left, right))
    return list(parts.values())


def _leaders(program: Program, rows: Iterable[Row], fixed: Mapping[int, int]) -> list[int]:
    """Return for each variable the first of those that it hangs together with."""
    leader = list(range(len(program.upper)))

    def lead(column: int) -> int:
        while leader[column] != column:
            leader[column] = leader[leader[column]]
            column = leader[column]
        return column

    def join(columns: Iterable[int]) -> None:
        first = None
        for column in columns:
            if column not in fixed:
                own = lead(column)
                first = own if first is None else first
                leader[max(own, first)] = first = min(own, first)

    for row in rows:
        join(row.terms)
    for product in program.products:
        join([product.target, *product.left.terms, *product.right.terms])
    return [lead(column) for column in range(len(leader))]


def _narrowed(terms: Sum, place: Mapping[int, int], values: Sequence[int]) -> Sum:
    """Return a sum over renumbered variables, all others at their values."""
    constant = terms.constant
    kept: dict[int, int] = {}
    for column, value in terms.terms.items():
        if column in place:
            kept[place[column]] = value
        else:
            constant += value * values[column]
    return Sum(kept, constant)


def _shrunk(row: Row, place: Mapping[int, int], values: Sequence[int]) -> Row:
    """Return a row over renumbered variables, all others at their values."""
    own = _narrowed(Sum(row.terms), place, values)
    low, high = (
        end if abs(end) == UNBOUNDED else end - own.constant for end in (row.low, row.high)
    )
    return Row(own.terms, low, high)
