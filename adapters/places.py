"""Where each value of a document stands: worked out only where something is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from stowplan.model.errors import InvalidInput, Problem, dotted
from stowplan.model.errors import Path as FieldPath
from stowplan.model.ranges import expand

_NAMES = ("name", "id", "device", "element")
"""The fields by which an item of a list is found, the first that is there."""


class Inside(NamedTuple):
    """What stands in a mapping or a list."""

    fields: Mapping[str, Place] = {}
    items: Sequence[Place] = ()


def _nothing() -> Inside:
    return Inside()


class Place:
    """A value of a file: its line, its text where it is a scalar, and what is inside."""

    def __init__(
        self,
        file: str,
        line: int | None,
        text: str | None = None,
        inside: Callable[[], Inside] = _nothing,
        note: str = "",
    ) -> None:
        self.file = file
        self.line = line
        self.text = text
        self.note = note
        """What says where it is, where a line can't."""
        self._inside = inside

    @cached_property
    def inside(self) -> Inside:
        """The values inside, each with its place."""
        return self._inside()

    @property
    def name(self) -> str | None:
        """Its name as it is written, where it has one."""
        place = self.inside.fields.get("name")
        return place.text if place else None

    @cached_property
    def items_by_name(self) -> Mapping[str, Sequence[tuple[int, Place]]]:
        """The items of a list, each with its index, by every name that they stand for."""
        found: dict[str, list[tuple[int, Place]]] = {}
        for index, item in enumerate(self.inside.items):
            named = (item.inside.fields.get(field) for field in _NAMES)
            called = next((place.text for place in named if place and place.text), item.text)
            for name in dict.fromkeys((called or "", *_expanded(called or ""))):
                found.setdefault(name, []).append((index, item))
        return found

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


def _expanded(name: str) -> tuple[str, ...]:
    try:
        return expand(name)
    except ValueError:
        return (name,)


def place_of(value: object, file: str, line: int | None, note: str = "") -> Place:
    """Return the place of a value that stands in one line, such as a row of a table."""

    def inside() -> Inside:
        if isinstance(value, Mapping):
            fields = {str(k): place_of(v, file, line, note) for k, v in value.items()}
            return Inside(fields=fields)
        if isinstance(value, list):
            return Inside(items=[place_of(one, file, line, note) for one in value])
        return Inside()

    text = None if value is None or isinstance(value, Mapping | list) else str(value)
    return Place(file, line, text, inside, note)


def invalid(
    file: str,
    message: str,
    hint: str | None = None,
    *,
    line: int | None = None,
    column: int | None = None,
    path: FieldPath = (),
) -> InvalidInput:
    """Return the error that says one thing wrong with a file."""
    field = f"column {column}" if column else dotted(path)
    return InvalidInput([Problem(path, message, hint, file, line, field)])
