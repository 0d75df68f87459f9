"""A document of plain values as YAML, many times as fast as PyYAML for thousands of items."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping

_PLAIN = re.compile(r"[A-Za-z][\w/.+@-]*(?: [\w/.+@()-]+)*", re.ASCII)
_MEANT = ("null", "true", "false", "yes", "no", "on", "off", "y", "n")
"""Words that are no text to some readers of YAML."""


def as_yaml(document: Mapping[str, object]) -> str:
    """Return a document of mappings, lists and scalars as YAML, in its own order."""
    return "".join(line + "\n" for line in _mapping(document, ""))


def _mapping(mapping: Mapping[str, object], indent: str) -> Iterator[str]:
    for key, value in mapping.items():
        head = f"{indent}{_text(key)}:"
        if isinstance(value, Mapping) and value:
            yield head
            yield from _mapping(value, indent + "  ")
        elif isinstance(value, list | tuple) and value:
            yield head
            for item in value:
                yield from _item(item, indent)
        else:
            yield f"{head} {_scalar(value)}"


def _item(item: object, indent: str) -> Iterator[str]:
    if not isinstance(item, Mapping) or not item:
        yield f"{indent}- {_scalar(item)}"
        return
    lines = _mapping(item, indent + "  ")
    yield f"{indent}- {next(lines)[len(indent) + 2 :]}"
    yield from lines


def _scalar(value: object) -> str:
    if isinstance(value, str):
        return _text(value)
    return json.dumps(value)  # a number, true, null, or one that is empty


@functools.lru_cache(maxsize=2**16)
def _text(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _MEANT:
        return text
    return json.dumps(text)
