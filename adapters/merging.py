"""The files of a folder as one document: mappings by their fields, lists one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stowplan.adapters.located import Document, Locator
from stowplan.model.errors import InvalidInput, Problem, dotted
from stowplan.model.errors import Path as FieldPath


def merged(documents: Sequence[Document]) -> Mapping[str, Any]:  # Any: raw input
    """Return what the documents hold together.

    Raises InvalidInput where two of them give one field (but `version`, where they agree).
    """
    whole: dict[str, Any] = {}
    twice: dict[FieldPath, None] = {}
    for document in documents:
        whole = _joined(whole, document.value, (), twice)
    if twice:
        locator = Locator(documents)
        problems = (p for path in twice for p in _given_twice(path, locator))
        raise InvalidInput(locator.located(problems))
    return whole


def _joined(
    one: Mapping[str, Any], other: Mapping[str, Any], path: FieldPath, twice: dict[FieldPath, None]
) -> dict[str, Any]:
    joined = dict(one)
    for key, value in other.items():
        here = (*path, key)
        held = joined.get(key)
        if key not in joined:
            joined[key] = value
        elif isinstance(held, Mapping) and isinstance(value, Mapping):
            joined[key] = _joined(held, value, here, twice)
        elif isinstance(held, list) and isinstance(value, list):
            joined[key] = held + value
        elif here != ("version",) or held != value:
            twice[here] = None
    return joined


def _given_twice(path: FieldPath, locator: Locator) -> Sequence[Problem]:
    first, *others = locator.all(path)
    problem = Problem(path, f"is given in {first} too", "it belongs in one of the files")
    return [problem.at(place.file, place.line, dotted(path)) for place in others]
