"""The kinds of value a snapshot holds, each with its unit and its limits."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
)
from pydantic_core import PydanticCustomError

from stowplan.model.ranges import expand


class Frozen(BaseModel):
    """A value that never changes and refuses a field it doesn't know."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


_SUFFIXES = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "p": 10**15}
_AMOUNT = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*([kmgtp])(i?)b?\s*$", re.IGNORECASE)


def _no_suffix(value: Any) -> Any:  # Any: raw input, before it is known to be anything
    """Refuse "64GiB" where a plain number is due, and say what it comes to."""
    if isinstance(value, str) and (match := _AMOUNT.match(value)):
        number, prefix, binary = match.groups()
        scale = _SUFFIXES[prefix.lower()]
        if binary:
            scale = 1024 ** (1 + "kmgtp".index(prefix.lower()))
        raise PydanticCustomError(
            "unit",
            "the unit is in the field's name, so the value is a plain whole number; "
            "'{text}' is {bytes} bytes",
            {"text": value, "bytes": int(Decimal(number) * scale)},
        )
    return value


def _thousandths(value: float) -> float:
    if round(value * 1000) != value * 1000 and abs(round(value * 1000) - value * 1000) > 1e-6:
        raise PydanticCustomError("thousandths", "at most three decimals: 0.001 is the least share")
    return value


def _zoned(value: Any) -> Any:  # Any: raw input
    if isinstance(value, dt.datetime) and value.tzinfo is None:
        raise PydanticCustomError(
            "zone", "needs a time zone, as in {example}", {"example": value.isoformat() + "Z"}
        )
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise PydanticCustomError("time", "is a time such as 2026-09-21T06:17:37Z, not a number")
    return value


Name = Annotated[str, Field(min_length=1, max_length=253)]
"""What an operator calls a thing; its identity."""

Names = Annotated[
    tuple[Name, ...],
    AfterValidator(lambda names: tuple(one for name in names for one in expand(name))),
]
"""Names, each of which may be a range."""

Count = Annotated[StrictInt, Field(ge=0)]
Positive = Annotated[StrictInt, Field(ge=1)]
Seconds = Annotated[StrictInt, Field(ge=0)]
Mib = Annotated[StrictInt, BeforeValidator(_no_suffix), Field(ge=0)]
Bytes = Annotated[StrictInt, BeforeValidator(_no_suffix), Field(ge=0, le=2**60)]
Memory = Annotated[StrictInt, BeforeValidator(_no_suffix), Field(ge=0, le=2**50)]
"""Bytes of a machine's memory, or of a worker's ask for it."""

Watts = Annotated[StrictInt | StrictFloat, Field(ge=0, allow_inf_nan=False)]
Number = Annotated[StrictInt | StrictFloat, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[StrictInt | StrictFloat, Field(ge=0, le=1)]
Flag = StrictBool
Cores = Annotated[
    StrictInt | StrictFloat,
    Field(ge=0, le=10**6, allow_inf_nan=False),
    AfterValidator(_thousandths),
]
"""CPU cores; a fraction is allowed down to a thousandth of a core."""

Usd = Annotated[Decimal, Field(ge=0, max_digits=18, decimal_places=6)]
"""US dollars, to a millionth."""

Timestamp = Annotated[AwareDatetime, BeforeValidator(_zoned)]
Labels = Mapping[str, str]


def millicores(cores: float) -> int:
    """Thousandths of a core, the unit in which cores are counted."""
    return round(cores * 1000)
