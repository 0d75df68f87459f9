"""The right name that a misspelt one most likely means."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

from pydantic import BaseModel

from stowplan.model.errors import Path
from stowplan.model.fields import takes_at


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
    close = nearest(name, known)
    if close:
        return Guess((close,), f"did you mean '{close}'?{_converted(name, close, given)}")
    outer = takes_at(root, path[:-2])
    if len(path) > 1 and outer and name in outer.names():
        return Guess((), f"it belongs one level up, beside '{path[-2]}'")
    return Guess((), f"known: {', '.join(known)}")


def _either(names: list[str]) -> str:
    return " or ".join(f"'{name}'" for name in names)


_UNITS: dict[str, tuple[str, Decimal]] = {
    "bytes": ("memory", Decimal(1)),
    "b": ("memory", Decimal(1)),
    **{
        f"{prefix}{ending}": ("memory", Decimal(base**power))
        for power, prefix in enumerate("kmgtp", start=1)
        for ending, base in (("b", 1000), ("ib", 1024))
    },
    "ms": ("time", Decimal("0.001")),
    **dict.fromkeys(("s", "sec", "secs", "seconds"), ("time", Decimal(1))),
    **dict.fromkeys(("m", "min", "mins", "minutes"), ("time", Decimal(60))),
    **dict.fromkeys(("h", "hr", "hours"), ("time", Decimal(3600))),
    **dict.fromkeys(("d", "days"), ("time", Decimal(86400))),
    "w": ("power", Decimal(1)),
    "watts": ("power", Decimal(1)),
    "kw": ("power", Decimal(1000)),
}
_SPELT = {"mib": "MiB", "gib": "GiB", "kib": "KiB", "tib": "TiB", "gb": "GB", "mb": "MB"}


def _converted(name: str, meant: str, given: object) -> str:
    """Return what a number comes to in the unit of the field that was meant."""
    unit, right = (re.split(r"_", text)[-1].lower() for text in (name, meant))
    if unit == right or not isinstance(given, int | float) or isinstance(given, bool):
        return ""
    if not abs(given) < 10**18:  # too large to be meant, infinite, or not a number
        return ""
    kind, scale = _UNITS.get(unit, ("", Decimal(1)))
    right_kind, right_scale = _UNITS.get(right, (None, Decimal(1)))
    amount = Decimal(str(given)) * scale / right_scale
    if kind != right_kind or amount != amount.to_integral_value():
        return ""
    spelt, right_spelt = _SPELT.get(unit, unit), _SPELT.get(right, right)
    return f" {given} {spelt} is {int(amount)} {right_spelt}"
