"""An integer program: variables with bounds, sums of them, and rows, each under its rule's name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

UNBOUNDED = 2**62


@dataclass(frozen=True)
class Sum:
    """A linear expression: coefficients by variable, and a constant."""

    terms: Mapping[int, int]
    constant: int = 0

    def __add__(self, other: Sum | int) -> Sum:
        return total((self, other))

    def __sub__(self, other: Sum | int) -> Sum:
        return total((self, other * -1))

    def __mul__(self, factor: int) -> Sum:
        if not factor:
            return ZERO
        scaled = {column: factor * value for column, value in self.terms.items()}
        return Sum(scaled, factor * self.constant)

    def __rmul__(self, factor: int) -> Sum:
        return self * factor

    def __le__(self, other: Sum | int) -> Row:
        return _row(self - other, -UNBOUNDED, 0)

    def __ge__(self, other: Sum | int) -> Row:
        return _row(self - other, 0, UNBOUNDED)

    def equals(self, other: Sum | int) -> Row:
        """Return the row that makes both sides equal."""
        return _row(self - other, 0, 0)

    def __bool__(self) -> bool:
        """Whether any variable is in it."""
        return bool(self.terms)

    def at(self, values: Sequence[int]) -> int:
        """Return its value where the variables have these values."""
        return self.constant + sum(value * values[column] for column, value in self.terms.items())


ZERO = Sum({})


def total(parts: Iterable[Sum | int]) -> Sum:
    """Return the sum of expressions and numbers."""
    terms: dict[int, int] = {}
    constant = 0
    for part in parts:
        if isinstance(part, int):
            constant += part
            continue
        constant += part.constant
        for column, value in part.terms.items():
            terms[column] = terms.get(column, 0) + value
    return Sum({column: value for column, value in terms.items() if value}, constant)


@dataclass(frozen=True)
class Row:
    """low <= terms <= high."""

    terms: Mapping[int, int]
    low: int
    high: int


def _row(difference: Sum, low: int, high: int) -> Row:
    return Row(difference.terms, _less(low, difference.constant), _less(high, difference.constant))


def _less(bound: int, constant: int) -> int:
    return bound if abs(bound) == UNBOUNDED else bound - constant


def _reduced(row: Row) -> Row:
    """Divide by the common factor of the coefficients: bytes become the unit that is used."""
    factor = math.gcd(*row.terms.values())
    if factor <= 1:
        return row
    terms = {column: value // factor for column, value in row.terms.items()}
    low = row.low if row.low == -UNBOUNDED else -(-row.low // factor)
    high = row.high if row.high == UNBOUNDED else row.high // factor
    return Row(terms, low, high)


@dataclass(frozen=True)
class Goal:
    """An objective, and which way is better."""

    terms: Sum
    maximise: bool


@dataclass(frozen=True)
class Product:
    """target = left x right."""

    target: int
    left: Sum
    right: Sum


@dataclass
class Program:
    """Variables and rows; every row belongs to the rule that made it."""

    lower: list[int] = field(default_factory=list)
    upper: list[int] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    """The rule of each row."""
    products: list[Product] = field(default_factory=list)

    def copy(self) -> Program:
        """Return a program that changes apart from this one."""
        return Program(
            list(self.lower),
            list(self.upper),
            list(self.rows),
            list(self.rules),
            list(self.products),
        )

    def variable(self, upper: int, lower: int = 0) -> Sum:
        """Return a new integer variable."""
        self.lower.append(lower)
        self.upper.append(upper)
        return Sum({len(self.upper) - 1: 1})

    def post(self, rule: str, rows: Iterable[Row]) -> None:
        """Add rows under a rule's name; rows that can't be broken are left out."""
        for row in rows:
            if self._can_break(row):
                self.rows.append(_reduced(row))
                self.rules.append(rule)

    def product(self, left: Sum, right: Sum) -> Sum:
        """Return a new variable that equals the product of two sums."""
        corners = [a * b for a in self.range(left) for b in self.range(right)]
        target = self.variable(max(corners), min(corners))
        self.products.append(Product(next(iter(target.terms)), left, right))
        return target

    def range(self, expression: Sum) -> tuple[int, int]:
        """Return the least and the greatest value that the variables' bounds allow."""
        low = high = expression.constant
        for column, value in expression.terms.items():
            ends = (value * self.lower[column], value * self.upper[column])
            low += min(ends)
            high += max(ends)
        return low, high

    def completed(self, values: Sequence[int]) -> list[int]:
        """Return values for every variable: products follow from the rest."""
        complete = list(values) + [0] * (len(self.upper) - len(values))
        for product in self.products:
            complete[product.target] = product.left.at(complete) * product.right.at(complete)
        return complete

    def _can_break(self, row: Row) -> bool:
        low, high = self.range(Sum(row.terms))
        return low < row.low or high > row.high
