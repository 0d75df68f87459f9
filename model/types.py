"""The kinds of value a snapshot holds, each with its unit and its limits."""

from __future__ import annotations

import datetime as dt
import math
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


def _number(value: Any) -> Any:  # Any: raw input
    """Refuse all but a finite number, in one error for whole numbers and fractions."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PydanticCustomError("float_type", "must be a number")
    if isinstance(value, float) and not math.isfinite(value):
        raise PydanticCustomError("float_type", "must be a finite number")
    return value


def _thousandths(value: float) -> float:
    if abs(round(value * 1000) - value * 1000) > 1e-6:
        raise PydanticCustomError("thousandths", "has more than three decimals")
    return value


_TIME = re.compile(
    r"^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?)?\s?([Zz]|[+-]\d\d:\d\d)?$", re.ASCII
)


def _zoned(value: Any) -> Any:  # Any: raw input
    """Refuse what isn't a time of RFC 3339: a number, a date alone, a time without a zone."""
    if isinstance(value, dt.datetime):
        if value.tzinfo is None:
            raise _no_zone(value.isoformat() + "Z")
        return value
    match = _TIME.match(value) if isinstance(value, str) else None
    if match is None:
        raise PydanticCustomError("datetime_type", "is not a time")
    date, clock, seconds, zone = match.groups()
    if clock is None or zone is None:
        raise _no_zone(f"{date}T{clock or '00:00'}{seconds or ':00'}Z")
    return value


def _no_zone(example: str) -> PydanticCustomError:
    return PydanticCustomError(
        "zone", "needs a time and a zone, as in {example}", {"example": example}
    )


_YEARS = range(1970, 2200)


def _utc(value: dt.datetime) -> dt.datetime:
    """Return the same moment in UTC, so that equal moments are written alike."""
    if value.year not in _YEARS:
        raise PydanticCustomError("year", "is a time outside the years 1970 to 2199")
    return value.astimezone(dt.UTC)


def _a_range(name: str) -> str:
    expand(name)
    return name


Name = Annotated[str, Field(min_length=1, max_length=253, pattern=r"^[^\x00-\x1f\x7f]*$")]
"""What an operator calls a thing; its identity."""

RangeName = Annotated[Name, AfterValidator(_a_range)]
"""A name that may be a range of names."""

Names = Annotated[
    tuple[Name, ...],
    AfterValidator(lambda names: tuple(one for name in names for one in expand(name))),
]
"""Names, each of which may be a range."""

Count = Annotated[StrictInt, Field(ge=0, le=10**9)]
Positive = Annotated[StrictInt, Field(ge=1, le=10**10)]
Many = Annotated[StrictInt, Field(ge=0, le=10**6)]
"""GPUs, workers or elements of one run; with this limit no sum of the solver leaves 2^53."""

Few = Annotated[StrictInt, Field(ge=0, le=1024)]
"""Things alike in one machine."""

Seed = Annotated[StrictInt, Field(ge=0, le=2**31 - 1)]
Seconds = Annotated[StrictInt, Field(ge=0, le=10**10)]
Mib = Annotated[StrictInt, Field(ge=0, le=2**40)]
Bytes = Annotated[StrictInt, Field(ge=0, le=2**60)]
Memory = Annotated[StrictInt, Field(ge=0, le=2**50)]
"""Bytes of a machine's memory, or of a worker's ask for it."""

# Limits stand before validators, and at each branch of a union: there pydantic checks natively.
Number = Annotated[
    Annotated[StrictInt, Field(ge=0, le=10**15)] | Annotated[StrictFloat, Field(ge=0, le=10**15)],
    BeforeValidator(_number),
]
Watts = Number
Share = Annotated[
    Annotated[StrictInt, Field(ge=0, le=1)] | Annotated[StrictFloat, Field(ge=0, le=1)],
    BeforeValidator(_number),
]
Flag = StrictBool
Cores = Annotated[
    Annotated[StrictInt, Field(ge=0, le=10**6)] | Annotated[StrictFloat, Field(ge=0, le=10**6)],
    BeforeValidator(_number),
    AfterValidator(_thousandths),
]
"""CPU cores; a fraction is allowed down to a thousandth of a core."""

Usd = Annotated[Decimal, Field(ge=0, max_digits=18, decimal_places=6)]
"""US dollars, to a millionth."""

Timestamp = Annotated[AwareDatetime, BeforeValidator(_zoned), AfterValidator(_utc)]
"""A moment, read with its zone (RFC 3339) and kept in UTC."""

Labels = Mapping[str, str]


def millicores(cores: float) -> int:
    """Thousandths of a core, the unit in which cores are counted."""
    return round(cores * 1000)
