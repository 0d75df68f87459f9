"""Validation errors in the words of who wrote the input."""

from __future__ import annotations

import difflib
import typing
from collections.abc import Iterable, Iterator
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from stowplan.model.errors import Path, Problem

_TAGS = {"list", "count"}
"""Names of the two ways to write devices and ports: pydantic puts them into a path."""


def explained(error: ValidationError, root: type[BaseModel]) -> list[Problem]:
    """Return what a validation error says as problems, with the nearest right names."""
    problems: list[Problem] = []
    for detail in error.errors(include_url=False):
        if detail["type"] == "disagrees":
            problems.extend(detail["ctx"]["problems"])
        else:
            problems.append(_problem(detail, root))
    return _without_repeats(problems)


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


def fields_at(root: Any, path: Path) -> tuple[str, ...]:  # Any: a type annotation
    """Return the names of the fields that are known at a path below a model."""
    models = [root]
    for part in path:
        models = [inner for model in models for inner in _below(model, part)]
    names: dict[str, None] = {}
    for model in models:
        for name, field in model.model_fields.items():
            names[field.alias or name] = None
    return tuple(names)


def _problem(detail: ErrorDetails, root: type[BaseModel]) -> Problem:
    path = _plain(detail["loc"])
    given = detail["input"]
    context = detail.get("ctx", {})
    match detail["type"]:
        case "extra_forbidden":
            known = fields_at(root, path[:-1])
            close = nearest(str(path[-1]), known)
            hint = f"did you mean '{close}'?" if close else f"known: {', '.join(known)}"
            return Problem(path, f"unknown field '{path[-1]}'", hint)
        case "missing":
            return Problem(path[:-1], f"the field '{path[-1]}' is missing")
        case "literal_error":
            allowed = context["expected"].replace("' or '", "', '").replace("'", "")
            close = nearest(str(given), allowed.split(", "))
            meant = f"; did you mean '{close}'?" if close else ""
            return Problem(
                path, f"{_shown(given)} is not a value it takes", f"allowed: {allowed}{meant}"
            )
        case "string_type":
            quoted = f"write it in quotes: '{given}'" if isinstance(given, int | float) else None
            return Problem(path, f"must be text, not {_shown(given)}", quoted)
        case kind if kind.startswith(("int_", "float_", "decimal_")) and isinstance(given, str):
            return Problem(path, f"must be a number, not {_shown(given)}", "without quotes or unit")
        case "int_type" | "int_from_float":
            return Problem(path, f"must be a whole number, not {_shown(given)}")
        case "greater_than_equal":
            return Problem(path, f"{_shown(given)} is too small", f"at least {context['ge']}")
        case "less_than_equal":
            return Problem(path, f"{_shown(given)} is too large", f"at most {context['le']}")
        case "tuple_type":
            return Problem(path, f"must be a list, not {_shown(given)}")
        case "model_type" | "model_attributes_type" | "dict_type" | "mapping_type":
            known = ", ".join(fields_at(root, path))
            hint = f"with the fields {known}" if known else None
            return Problem(path, f"must be a mapping, not {_shown(given)}", hint)
        case _:
            return Problem(path, f"{detail['msg'][:1].lower()}{detail['msg'][1:]}")


def _shown(given: object) -> str:
    if given is None:
        return "empty"
    text = f"'{given}'" if isinstance(given, str) else str(given)
    return text if len(text) <= 60 else text[:57] + "..."


def _plain(location: tuple[int | str, ...]) -> Path:
    """Leave out what isn't in the file: the tags of unions, and names of validators."""
    return tuple(
        part
        for index, part in enumerate(location)
        if not (isinstance(part, str) and part in _TAGS and _is_tag(location, index))
        and not (isinstance(part, str) and part in ("int", "float"))
        and not (isinstance(part, str) and "[" in part)
    )


def _is_tag(location: tuple[int | str, ...], index: int) -> bool:
    return index > 0 and location[index - 1] in ("devices", "rdma")


def _below(model: type[BaseModel], part: str | int) -> Iterator[type[BaseModel]]:
    if isinstance(part, int):
        yield model
        return
    for name, field in model.model_fields.items():
        if part in (name, field.alias):
            yield from _models(field.annotation)
            for extra in field.metadata:
                yield from _models(getattr(extra, "annotation", None))


def _models(annotation: Any) -> Iterator[type[BaseModel]]:  # Any: a type annotation
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif isinstance(annotation, typing.TypeAliasType):
        yield from _models(annotation.__value__)
    elif get_origin(annotation) is not None:
        for argument in get_args(annotation):
            yield from _models(argument)


def _without_repeats(problems: Iterable[Problem]) -> list[Problem]:
    return list(dict.fromkeys(problems))
