"""JSON, strictly: no key twice; a line is found by reading again only what is on the way."""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Iterator
from typing import Any

from stowplan.adapters.places import Inside, Place, invalid
from stowplan.model.errors import InvalidInput, Problem, dotted
from stowplan.model.errors import Path as FieldPath

_SPACE = re.compile(r"[ \t\n\r]*")
_LONGEST_NUMBER = 4000
"""Digits; Python reads up to 4300 of them."""

_WORDS = {
    "Expecting property name enclosed in double quotes": (
        "a field's name in double quotes is missing",
        "JSON has quotes around names",
    ),
    "Illegal trailing comma": ("a ',' stands after the last item", None),  # Python 3.13
    "Expecting ':' delimiter": ("a ':' is missing after a field's name", None),
    "Expecting ',' delimiter": ("a ',' is missing, or the end of a list or mapping", None),
    "Expecting value": ("a value is missing here", "text is in double quotes"),
    "Extra data": ("something stands after the end of the document", "a file holds one document"),
    "Unterminated string": ("a quote begins here and never ends", None),
    "Invalid control character": ("a line break or control character stands in a text", None),
    "Invalid \\escape": ("a '\\' begins no known escape", None),
}


def read_json(text: str, file: str) -> Any:  # Any: raw input
    """Return what a JSON text holds. Raises InvalidInput."""
    twice = False

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal twice
        fields = dict(pairs)
        twice = twice or len(fields) < len(pairs)
        return fields

    try:
        value = json.loads(text, object_pairs_hook=mapping, parse_int=_whole)
        if twice:
            raise InvalidInput(_Text(text, file).keys_twice())
    except json.JSONDecodeError as error:
        if text[error.pos : error.pos + 1] in ("]", "}") and text[: error.pos].rstrip()[-1:] == ",":
            message = f"a ',' stands before the '{text[error.pos]}'"
            raise invalid(file, message, line=error.lineno, column=error.colno) from None
        known = (words for begin, words in _WORDS.items() if error.msg.startswith(begin))
        message, hint = next(known, (f"is not JSON: {error.msg.lower()}", None))
        raise invalid(file, message, hint, line=error.lineno, column=error.colno) from None
    except RecursionError:
        raise invalid(file, "values are nested too deep") from None
    return value


def json_place(text: str, file: str) -> Place:
    """Return where everything stands in a JSON text that was read before."""
    return _Text(text, file).place()


def _whole(digits: str) -> int | str:
    return int(digits) if len(digits) < _LONGEST_NUMBER else digits


class _Text:
    """A JSON text, read again from where a value begins."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file
        self._breaks = [match.start() for match in re.finditer("\n", text)]
        self._decode = json.JSONDecoder(parse_int=_whole).raw_decode

    def place(self, start: int | None = None, line_at: int | None = None) -> Place:
        """Return the place of the value that begins at an offset, or of the whole."""
        start = self._skip(0) if start is None else start
        text = None
        if self._text[start] not in "{[":
            value, end = self._decode(self._text, start)
            text = value if isinstance(value, str) else self._text[start:end]
        line = self._line(start if line_at is None else line_at)
        return Place(self._file, line, text, lambda: self._inside(start))

    def keys_twice(self, start: int | None = None, path: FieldPath = ()) -> list[Problem]:
        """Return a problem for every key that is in a mapping twice."""
        start = self._skip(0) if start is None else start
        problems: list[Problem] = []
        lines: dict[str, int] = {}
        if self._text[start] == "{":
            for key, key_at, at in self._members(start):
                here: FieldPath = (*path, key)
                line = self._line(key_at)
                if key in lines:
                    message = f"the key '{key}' is there twice"
                    hint = f"the first is on line {lines[key]}"
                    problems.append(Problem(here, message, hint, self._file, line, dotted(here)))
                lines[key] = line
                problems.extend(self.keys_twice(at, here))
        elif self._text[start] == "[":
            for index, at in enumerate(self._elements(start)):
                problems.extend(self.keys_twice(at, (*path, index)))
        return problems

    def _line(self, offset: int) -> int:
        return bisect.bisect_left(self._breaks, offset) + 1

    def _inside(self, start: int) -> Inside:
        if self._text[start] == "{":
            fields = {key: self.place(at, key_at) for key, key_at, at in self._members(start)}
            return Inside(fields=fields)
        if self._text[start] == "[":
            return Inside(items=[self.place(at) for at in self._elements(start)])
        return Inside()

    def _members(self, start: int) -> Iterator[tuple[str, int, int]]:
        """Yield each key of a mapping, where it begins, and where its value begins."""
        at = self._skip(start + 1)
        while self._text[at] != "}":
            key, end = self._decode(self._text, at)
            value_at = self._skip(self._skip(end) + 1)
            yield key, at, value_at
            at = self._after(value_at)

    def _elements(self, start: int) -> Iterator[int]:
        at = self._skip(start + 1)
        while self._text[at] != "]":
            yield at
            at = self._after(at)

    def _after(self, start: int) -> int:
        """Return where the next key or item begins, or the bracket that ends them."""
        _, end = self._decode(self._text, start)
        at = self._skip(end)
        return self._skip(at + 1) if self._text[at] == "," else at

    def _skip(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        return match.end() if match else at
