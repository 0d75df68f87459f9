"""What each field of a model takes, read from its type: for messages and for tables."""

from __future__ import annotations

import datetime as dt
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import AwareDatetime, BaseModel, BeforeValidator

from stowplan.model.errors import Path


@dataclass(frozen=True)
class Takes:
    """The values a place takes: any of these."""

    scalars: frozenset[type] = frozenset()
    """Of str, bool, int, float, Decimal and datetime."""
    choices: tuple[str, ...] = ()
    items: Takes | None = None
    """What each item is, where it takes a list."""
    values: Takes | None = None
    """What each value is, where it takes a mapping with keys of the writer's own."""
    models: tuple[type[BaseModel], ...] = ()
    """Where it takes a mapping with known fields."""
    tagged: bool = False
    """Whether pydantic puts the name of a branch into the path of an error."""

    def names(self) -> tuple[str, ...]:
        """Return the fields that it knows."""
        return tuple(name for model in self.models for name in fields_of(model))

    def below(self, part: str | int) -> Takes | None:
        """Return what it takes at a field or an index; None where there is no such place."""
        if isinstance(part, int):
            return self.items
        for model in self.models:
            if part in fields_of(model):
                return fields_of(model)[part].takes
        return self.values

    def words(self) -> str:
        """Say what it takes: "a whole number", "a list or a mapping"."""
        kinds = [
            word
            for word, taken in (
                ("one of " + ", ".join(self.choices), bool(self.choices)),
                ("text", str in self.scalars),
                ("a whole number", int in self.scalars and float not in self.scalars),
                ("a number", bool(self.scalars & {float, Decimal})),
                ("true or false", bool in self.scalars),
                ("a time such as 2026-09-21T06:17:37Z", dt.datetime in self.scalars),
                ("a list", self.items is not None),
                ("a mapping", self.values is not None or bool(self.models)),
            )
            if taken
        ]
        return " or ".join(kinds)


@dataclass(frozen=True)
class Known:
    """A field of a model."""

    takes: Takes = field(repr=False)
    required: bool


@cache
def fields_of(model: type[BaseModel]) -> Mapping[str, Known]:
    """Return a model's fields by the names they have in a file."""
    return {
        info.alias or name: Known(_takes(info.annotation, tuple(info.metadata)), info.is_required())
        for name, info in model.model_fields.items()
    }


def takes_at(root: type[BaseModel], path: Path) -> Takes | None:
    """Return what a place below a model takes; None where there is no such place."""
    found: Takes | None = Takes(models=(root,))
    for part in path:
        found = found.below(part) if found else None
    return found


def _takes(annotation: Any, metadata: tuple[Any, ...] = ()) -> Takes:  # Any: a type annotation
    for extra in metadata:
        if isinstance(extra, BeforeValidator) and isinstance(
            extra.json_schema_input_type, types.UnionType
        ):
            return replace(_takes(extra.json_schema_input_type), tagged=False)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _takes(arguments[0], arguments[1:])
    if origin is typing.Union or origin is types.UnionType:
        return _any_of([_takes(one) for one in arguments if one is not types.NoneType])
    if origin is Literal:
        return Takes(choices=tuple(str(one) for one in arguments))
    if origin is tuple:
        return Takes(items=_takes(arguments[0]))
    if origin is Mapping:
        return Takes(values=_takes(arguments[1]))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return Takes(models=(annotation,))
    if annotation is AwareDatetime:
        return Takes(scalars=frozenset({dt.datetime}))
    return Takes(scalars=frozenset({annotation}))


def _any_of(branches: list[Takes]) -> Takes:
    if len(branches) == 1:
        return branches[0]
    return Takes(
        scalars=frozenset().union(*(branch.scalars for branch in branches)),
        choices=tuple(choice for branch in branches for choice in branch.choices),
        items=next((branch.items for branch in branches if branch.items), None),
        values=next((branch.values for branch in branches if branch.values), None),
        models=tuple(model for branch in branches for model in branch.models),
        tagged=True,
    )
