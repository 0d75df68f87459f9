"""YAML, strictly: no key twice, no unknown tag, and nothing guessed about a plain word.

Plain words are read as in YAML 1.2: true, false, null and decimal numbers; all else is text, so
that `yes`, `012`, `1:30` and dates stay as they are written.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from stowplan.adapters.places import Inside, Place, invalid
from stowplan.adapters.yaml_words import plain_words
from stowplan.model.errors import InvalidInput, Problem, dotted
from stowplan.model.errors import Path as FieldPath

DEEPEST = 100
"""How deep values may be nested; a snapshot needs a tenth of it."""
MOST_BY_ALIAS = 1_000_000
"""The most values that aliases may stand for in one file."""

_TAG = "tag:yaml.org,2002:"
_MERGE = _TAG + "merge"
_LONGEST_NUMBER = 4000
"""Digits; Python reads up to 4300 of them."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # either has it
    """PyYAML's loader with the plain words of YAML 1.2."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}


for _kind, _pattern, _first in (
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"^[-+]?(?:0|[1-9][0-9]*)$", list("-+0123456789")),
    (
        "float",
        r"^[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?"
        r"|\.(?:inf|Inf|INF))$|^\.(?:nan|NaN|NAN)$",
        list("-+.0123456789"),
    ),
    ("merge", r"^<<$", ["<"]),
):
    _Loader.add_implicit_resolver(_TAG + _kind, re.compile(_pattern), _first)


def read_yaml(text: str, file: str) -> Any:  # Any: raw input
    """Return what a YAML text holds; None where it holds nothing. Raises InvalidInput."""
    node = _composed(text, file)
    if node is None:
        return None
    reader = _Reader(file)
    value = reader.value(node)
    if reader.problems:
        raise InvalidInput(reader.problems)
    return value


def yaml_place(text: str, file: str) -> Place:
    """Return where everything stands in a YAML text that was read before."""
    return _place(_composed(text, file), file, 1)


def _composed(text: str, file: str) -> Any:  # Any: PyYAML's nodes have no types
    try:
        return yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError as error:
        line, column, message, hint = plain_words(error, text)
        raise invalid(file, message, hint, line=line, column=column) from None


class _Reader:
    """Makes plain values of nodes, and collects what is wrong with them."""

    def __init__(self, file: str) -> None:
        self.problems: list[Problem] = []
        self._file = file
        self._path: list[str | int] = []
        self._values: dict[int, tuple[Any, int]] = {}  # by node: its value, and how many it holds
        self._open: set[int] = set()
        self._count = 0
        self._by_alias = 0

    def value(self, node: Any) -> Any:  # Any: a node in, raw input out
        """Return a node's value."""
        key = id(node)
        if key in self._values:
            value, size = self._values[key]
            self._count += size
            self._by_alias += size
            if self._by_alias > MOST_BY_ALIAS:
                message = f"the aliases stand for more than {MOST_BY_ALIAS:,} values"
                raise self._stop(node, message, "write out what you need")
            return value
        if key in self._open:
            raise self._stop(node, "an alias stands for a value that it is part of")
        if len(self._open) >= DEEPEST:
            del self._path[3:]
            raise self._stop(node, f"values are nested more than {DEEPEST} deep")
        before = self._count
        self._count += 1
        if isinstance(node, yaml.ScalarNode):
            value = self._scalar(node)
        else:
            self._open.add(key)
            value = self._mapping(node) if isinstance(node, yaml.MappingNode) else self._list(node)
            self._open.remove(key)
        self._values[key] = value, self._count - before
        return value

    def _scalar(self, node: Any) -> Any:
        text: str = node.value
        match node.tag.removeprefix(_TAG):
            case "str" | "merge":
                return text
            case "null":
                return None
            case "bool" if text.lower() in ("true", "false"):
                return text.lower() == "true"
            case "int" if re.fullmatch(r"[-+]?[0-9]+", text):
                return int(text) if len(text) < _LONGEST_NUMBER else text
            case "float":
                return _float(text)
            case tag:
                self._wrong(node, f"the tag '{tag}' is not known for '{text}'", "leave it out")
                return text

    def _list(self, node: Any) -> list[Any]:
        self._known_tag(node, "seq")
        values = []
        for index, item in enumerate(node.value):
            self._path.append(index)
            values.append(self.value(item))
            self._path.pop()
        return values

    def _mapping(self, node: Any) -> dict[str, Any]:
        self._known_tag(node, "map")
        own: dict[str, Any] = {}
        lines: dict[str, int] = {}
        merged: dict[str, Any] = {}
        for key, item in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._wrong(key, "a key must be text", "a name, then a colon")
                continue
            name = key.value
            self._path.append(name)
            line = key.start_mark.line + 1
            if name in lines:
                message = f"the key '{name}' is there twice"
                self._wrong(key, message, f"the first is on line {lines[name]}")
            lines[name] = line
            value = self.value(item)
            if key.tag == _MERGE:
                for source in value if isinstance(value, list) else [value]:
                    if not isinstance(source, dict):
                        self._wrong(item, "'<<' takes a mapping, or a list of them")
                        continue
                    merged = {**source, **merged}
            else:
                own[name] = value
            self._path.pop()
        return {**merged, **own} if merged else own

    def _known_tag(self, node: Any, kind: str) -> None:
        if node.tag != _TAG + kind:
            tag = node.tag.removeprefix(_TAG)
            self._wrong(node, f"the tag '{tag}' is not known here", "leave it out")

    def _wrong(self, node: Any, message: str, hint: str | None = None) -> None:
        path: FieldPath = tuple(self._path)
        line = node.start_mark.line + 1
        self.problems.append(Problem(path, message, hint, self._file, line, dotted(path)))

    def _stop(self, node: Any, message: str, hint: str | None = None) -> InvalidInput:
        self._wrong(node, message, hint)
        return InvalidInput(self.problems)


def _float(text: str) -> float | str:
    try:
        return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    except ValueError:
        return text


def _place(node: Any, file: str, line: int) -> Place:
    if isinstance(node, yaml.ScalarNode):
        return Place(file, line, node.value)
    if isinstance(node, yaml.SequenceNode):

        def items() -> Inside:
            return Inside(items=[_place(i, file, i.start_mark.line + 1) for i in node.value])

        return Place(file, line, inside=items)
    return Place(file, line, inside=lambda: Inside(fields=_fields(node, file)))


def _fields(node: Any, file: str) -> dict[str, Place]:
    fields: dict[str, Place] = {}
    for key, item in node.value:
        if key.tag == _MERGE:
            for source in item.value if isinstance(item, yaml.SequenceNode) else [item]:
                fields = {**_fields(source, file), **fields}
    for key, item in node.value:
        if key.tag != _MERGE:
            fields[key.value] = _place(item, file, key.start_mark.line + 1)
    return fields
