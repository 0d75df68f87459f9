"""The right name that a misspelt one most likely means."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import NamedTuple

from pydantic import BaseModel

from stowplan.model.errors import Path
from stowplan.model.fields import takes_at
from stowplan.model.units import renamed


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that a misspelt one most likely means, or None."""
    names = list(known)
    lower = {candidate.lower(): candidate for candidate in reversed(names)}
    close = difflib.get_close_matches(name.lower(), list(lower), n=1, cutoff=0.6)
    if close:
        return lower[close[0]]
    stem = name.lower().split("_")[0]
    same = [candidate for candidate in names if candidate.lower().split("_")[0] == stem]
    return same[0] if stem and same else None


class Guess(NamedTuple):
    """What an unknown field most likely means."""

    names: tuple[str, ...]
    """The field, below the place where the unknown one stands; none where there is no guess."""
    hint: str


def meant_for(root: type[BaseModel], path: Path, given: object) -> Guess:
    """Return what the unknown field at the end of a path most likely means.

    It is sought at its own place, one level down and one level up.
    """
    name, takes = str(path[-1]), takes_at(root, path[:-1])
    known = takes.names() if takes else ()
    inner = [
        f"{field}.{name}"
        for model in (takes.models if takes else ())
        for field in known
        if (below := takes_at(model, (field,))) and below.items is None and name in below.names()
    ]
    if inner:
        return Guess(tuple(inner[0].split(".")), f"did you mean {_either(inner)}?")
    outer = takes_at(root, path[:-2])
    if len(path) > 1 and outer and name in outer.names():
        return Guess((), f"it belongs one level up, beside '{path[-2]}'")
    close = nearest(name, known)
    if close:
        amount = renamed(name, close, given)
        return Guess((close,), f"did you mean '{close}{f': {amount}' if amount else ''}'?")
    return Guess((), f"known: {', '.join(known)}")


def _either(names: list[str]) -> str:
    return " or ".join(f"'{name}'" for name in names)
