"""What a cell of a table means, by the type of its field."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from stowplan.model.fields import Takes

_WHOLE = re.compile(r"[-+]?[0-9]{1,4000}(?:\.0*)?", re.ASCII)
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", re.ASCII)

_SHORT = 60
"""A longer cell isn't repeated in a message."""


class BadCell(ValueError):
    """A cell that can't be read; `hint` says what would be right."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def read_cell(text: str, takes: Takes) -> Any:  # Any: raw input
    """Return what a cell's text means for its field; text that doesn't fit stays text.

    A cell that begins with [ or { is JSON where the field takes a list or a mapping; a list is
    also written `a;b`. Raises BadCell where JSON is due and isn't there.
    """
    if takes.items is not None and text.startswith(("[", '{"')):  # {1..4} begins a range of names
        return _json(text, _as_list(text) if str in takes.items.scalars else None)
    if (takes.models or takes.values is not None) and text.startswith("{"):
        return _json(text, "JSON has double quotes around names and around text")
    if takes.items is not None:
        parts = [part.strip() for part in text.split(";")]
        return [read_cell(part, takes.items) for part in parts if part]
    if str in takes.scalars or takes.choices:
        return text
    if bool in takes.scalars:
        return {"true": True, "false": False}.get(text.lower(), text)
    if int in takes.scalars and _WHOLE.fullmatch(text):
        return int(text.split(".")[0])
    if float in takes.scalars and _NUMBER.fullmatch(text):
        return float(text)
    return text  # times and money are read from text


def read_value(value: Any, takes: Takes) -> Any:  # Any: what Parquet can hold
    """Return what a typed cell means for its field; None where it says nothing.

    Numbers become whole where a whole number is due and nothing is lost, moments become text,
    and what is null inside is left out.
    """
    match value:
        case None:
            return None
        case str():
            return value if str in takes.scalars else read_cell(value.strip(), takes) or None
        case float() if math.isnan(value):
            return None
        case bool():
            return value
        case float() | Decimal() if int in takes.scalars and value == int(value):
            return int(value)
        case Decimal() if Decimal not in takes.scalars:
            return float(value)
        case dt.datetime():
            return value.isoformat(timespec="microseconds")
        case dt.date():
            return value.isoformat()
        case Mapping():
            return _mapping(value, takes)
        case list() if takes.items is None and takes.values is not None:
            return _mapping(dict(value), takes)  # Parquet's maps are lists of pairs
        case list():
            return [read_value(one, takes.items or Takes()) for one in value]
        case _:
            return value


def _mapping(value: Mapping[str, Any], takes: Takes) -> dict[str, Any]:
    inner = {key: read_value(one, takes.below(key) or Takes()) for key, one in value.items()}
    return {key: one for key, one in inner.items() if one is not None}


def _as_list(text: str) -> str:
    """Return both ways to write the list of names that a text most likely means."""
    names = [part.strip(" \"'[]") for part in text.split(",")]
    if len(text) > _SHORT or not all(names):
        names = ["a", "b"]
    return f"write {';'.join(names)} or {json.dumps(names, ensure_ascii=False)}"


def _json(text: str, hint: str | None) -> Any:
    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        if len(fields) < len(pairs):
            raise BadCell("a key is in it twice")
        return fields

    try:
        return json.loads(text, object_pairs_hook=mapping)
    except json.JSONDecodeError as error:
        message = f"is not JSON: {error.msg.lower()} (character {error.pos + 1})"
        raise BadCell(message, hint) from None
    except RecursionError:
        raise BadCell("values are nested too deep") from None
    except BadCell:
        raise
    except ValueError:  # Python reads no number of more than 4300 digits
        raise BadCell("a number in it is too long") from None
