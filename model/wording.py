"""Validation errors in the words of who wrote the input."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from stowplan.model.errors import Path, Problem, dotted
from stowplan.model.fields import Takes, takes_at
from stowplan.model.names import meant_for, nearest
from stowplan.model.roadmap import VALUES
from stowplan.model.units import read_amount

__all__ = ["explained", "fields_at", "nearest", "shown"]


def explained(error: ValidationError, root: type[BaseModel]) -> list[Problem]:
    """Return what a validation error says as problems, with the nearest right names."""
    problems: list[Problem] = []
    meant: set[Path] = set()
    for detail in error.errors(include_url=False):
        if detail["type"] == "disagrees":
            problems.extend(detail["ctx"]["problems"])
            continue
        path, takes = _place(detail["loc"], root)
        if detail["type"] == "extra_forbidden":
            guess = meant_for(root, path, detail["input"])
            meant.add((*path[:-1], *guess.names))
            problems.append(Problem(path, f"unknown field '{path[-1]}'", guess.hint))
        elif (problem := _problem(detail, path, takes)) is not None:
            problems.append(problem)
    told = (p for p in problems if not (p.message == "is missing" and p.path in meant))
    return list(dict.fromkeys(told))


def fields_at(root: type[BaseModel], path: Path) -> tuple[str, ...]:
    """Return the names of the fields that are known at a path below a model."""
    takes = takes_at(root, path)
    return takes.names() if takes else ()


def shown(given: object) -> str:
    """Return a value as a message shows it: short, and as a file would say it."""
    match given:
        case None:
            return "empty"
        case bool():
            return "true" if given else "false"
        case str():
            text = f"'{given}'"
        case Mapping():
            return "a mapping"
        case list() | tuple():
            return "a list"
        case float() if not math.isfinite(given):
            return {"nan": "NaN", "inf": "infinity"}.get(str(given), "minus infinity")
        case int() if given.bit_length() > 4000:  # Python refuses to write out more
            return "a number of more than a thousand digits"
        case _:
            text = str(given)
    return text if len(text) <= 60 else text[:57] + "..."


def _place(location: tuple[int | str, ...], root: type[BaseModel]) -> tuple[Path, Takes | None]:
    """Return the path in the file, without pydantic's tags of unions, and what belongs there."""
    path: list[int | str] = []
    takes: Takes | None = Takes(models=(root,))
    tag = False
    for part in location:
        if tag or part == "[key]":
            tag = False
            continue
        path.append(part)
        takes = takes.below(part) if takes else None
        tag = takes is not None and takes.tagged
    return tuple(path), takes


def _problem(detail: ErrorDetails, path: Path, takes: Takes | None) -> Problem | None:
    given, context = detail["input"], detail.get("ctx", {})
    if "[key]" in detail["loc"]:
        return Problem(path, "the key must be text", "write it in quotes")
    match detail["type"]:
        case "missing":
            return Problem(path, "is missing", takes.words() if takes else None)
        case "literal_error":
            allowed = takes.choices if takes else ()
            close = nearest(str(given), allowed)
            meant = f"; did you mean '{close}'?" if close else ""
            message = f"{shown(given)} is not a value it takes"
            later = VALUES.get(dotted(path), ())
            now = ", ".join(value for value in allowed if value not in later)
            not_yet = f" (not supported yet: {', '.join(later)})" if later else ""
            return Problem(path, message, f"allowed: {now}{not_yet}{meant}")
        case "greater_than_equal":
            return Problem(
                path, f"{shown(given)} is too small", f"at least {_plain(context['ge'])}"
            )
        case "less_than_equal":
            return Problem(path, f"{shown(given)} is too large", f"at most {_plain(context['le'])}")
        case "string_too_short":
            return Problem(path, "is empty text", "at least one character")
        case "string_too_long":
            return Problem(path, f"has {len(given)} characters", f"at most {context['max_length']}")
        case "string_pattern_mismatch":
            return Problem(path, f"{shown(given)} holds a control character", "one plain line")
        case "decimal_max_places":
            return Problem(path, f"{shown(given)} has too many decimals", "at most six")
        case "decimal_max_digits" | "decimal_whole_digits":
            return Problem(path, f"{shown(given)} is too large", "at most 999999999999.999999")
        case "thousandths":
            message = f"{shown(given)} has more than three decimals"
            return Problem(path, message, "0.001 is the least share of a core")
        case "zone" | "year":
            return Problem(path, f"{shown(given)} {detail['msg']}")
        case "datetime_parsing" | "datetime_from_date_parsing" | "datetime_object_invalid":
            return Problem(path, f"{shown(given)} is not a time: {context['error']}")
        case "value_error":
            return Problem(path, str(context["error"]))
        case _ if takes is not None:
            return _wrong_type(given, path, takes)
        case _:
            return Problem(path, f"{detail['msg'][:1].lower()}{detail['msg'][1:]}")


def _plain(limit: int | float | Decimal) -> str:
    return str(int(limit)) if limit == int(limit) else str(limit)


def _wrong_type(given: Any, path: Path, takes: Takes) -> Problem | None:  # Any: raw input
    if takes.tagged and _is_meant(given, takes):
        return None  # another way to write it was meant, and is told of
    if takes.scalars >= {int, float} and isinstance(given, float) and math.isfinite(given):
        return None  # a fraction is fine here, and what is wrong with it is told of
    message = f"must be {takes.words()}, not {shown(given)}"
    amount = read_amount(str(path[-1]), given) if path and isinstance(given, str) else None
    if amount and takes.scalars & {int, float}:
        return Problem(path, message, f"the unit is in the field's name: write {amount}")
    return Problem(path, message, _how(given, takes))


def _is_meant(given: object, takes: Takes) -> bool:
    if isinstance(given, Mapping):
        return bool(takes.models) or takes.values is not None
    return isinstance(given, list | tuple) and takes.items is not None


_FLAGS = {
    **dict.fromkeys(("true", "yes", "on", "y", "1"), "true"),
    **dict.fromkeys(("false", "no", "off", "n", "0"), "false"),
}


_MOST_EXACT = 2**53
"""A larger number with a fraction isn't exact: to write out its digits would mislead."""


def _how(given: Any, takes: Takes) -> str | None:  # Any: raw input
    """Return how to write what was probably meant."""
    if str in takes.scalars and isinstance(given, bool | int | float):
        return "write it in quotes"
    if bool in takes.scalars:
        flag = _FLAGS.get(str(given).lower()) if isinstance(given, str | int) else None
        return f"write {flag}" if flag else None
    if int in takes.scalars and isinstance(given, float) and given.is_integer():
        if abs(given) > _MOST_EXACT:
            return None
        return f"write {int(given)}"
    if takes.items is not None:
        if given is None:
            return "[] is an empty list"
        one = isinstance(given, str) and len(given) < 40 and str in takes.items.scalars
        return f"write [{given}]" if one else None
    if takes.models:
        return f"with the fields {', '.join(takes.names())}"
    if takes.scalars & {int, float, Decimal} and isinstance(given, str):
        return _as_number(given.strip())
    return None


def _as_number(text: str) -> str | None:
    if not text.replace(".", "", 1).isdecimal() or len(text) > 40:
        return None
    bare = text.lstrip("0")
    return "write it without quotes" if bare == text else f"write {bare or '0'}"
