"""Which field of an item each column of a table is: `labels.pool`, `devices.count`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stowplan.model.errors import InvalidInput, Problem
from stowplan.model.fields import Takes, fields_of
from stowplan.model.names import nearest


@dataclass(frozen=True)
class Column:
    """A column: the path of its field in an item, and what the field takes."""

    path: tuple[str, ...]
    """Empty where the column is the item itself, as in a list of names."""
    takes: Takes


def columns_of(header: Sequence[str], item: Takes, file: str, line: int | None) -> list[Column]:
    """Return the columns of a header. Raises InvalidInput with all that is wrong with it."""
    problems: list[Problem] = []

    def tell(message: str, hint: str | None = None) -> None:
        problems.append(Problem((), message, hint, file, line))

    if not item.models:
        if len(header) == 1:
            return [Column((), item)]
        tell(f"has {len(header)} columns", "a list of plain values has one")
        raise InvalidInput(problems)
    if any(mark in name for name in header for mark in ";\t"):
        tell(f"the header is '{header[0]}'", "columns are separated by commas")
        raise InvalidInput(problems)
    found: dict[str, Column] = {}
    meant: set[str | None] = set()
    for name in header:
        column = _column(name, item)
        if name in found:
            tell(f"the column '{name}' is there twice")
        elif column is None:
            close = _nearest(name, item)
            meant.add(close)
            tell(f"unknown column '{name}'", _hint(name, close, item))
        else:
            found[name] = column
    for outer in found:
        inner = next((name for name in found if name.startswith(outer + ".")), None)
        if inner and found[inner].path[: len(found[outer].path)] == found[outer].path:
            told = f"the columns '{outer}' and '{inner}' are for one field"
            tell(told, f"keep one way: '{outer}' takes JSON, which may differ by row")
    for name in _missing(header, item):
        if name not in meant:
            tell(f"the column '{name}' is missing", f"columns here: {', '.join(header)}")
    if problems:
        raise InvalidInput(problems)
    return list(found.values())


def _column(name: str, takes: Takes) -> Column | None:
    """Return the column of this name; the rest of a name below labels is one key."""
    path: list[str] = []
    rest = name
    while True:
        first, dot, after = rest.partition(".")
        known = next((m for m in takes.models if first in fields_of(m)), None)
        if known is None:
            if takes.values is None or not rest or not path:
                return None
            return Column((*path, rest), takes.values)
        takes = fields_of(known)[first].takes
        path.append(first)
        if not dot:
            return Column(tuple(path), takes)
        rest = after


def _hint(name: str, close: str | None, item: Takes) -> str:
    if not name:
        return "every column has a name"
    return f"did you mean '{close}'?" if close else f"known: {', '.join(item.names())}"


def _nearest(name: str, item: Takes) -> str | None:
    first, dot, rest = name.partition(".")
    outer = nearest(first, item.names())
    if dot and outer and _column(f"{outer}.{rest}", item):
        return f"{outer}.{rest}"
    return nearest(name, _all_columns(item))


def _all_columns(takes: Takes, prefix: str = "") -> Iterator[str]:
    for model in takes.models:
        for name, known in fields_of(model).items():
            yield prefix + name
            yield from _all_columns(known.takes, f"{prefix}{name}.")


def _missing(header: Sequence[str], takes: Takes, prefix: str = "") -> Iterator[str]:
    """Yield required fields that have no column, of the item and of what has columns below it."""
    for model in takes.models:
        for name, known in fields_of(model).items():
            column = prefix + name
            if any(other.startswith(column + ".") for other in header):
                yield from _missing(header, known.takes, column + ".")
            elif known.required and column not in header:
                yield column
