"""What the cells of a catalog mean: numbers without float noise, money, and times."""

from __future__ import annotations

import datetime as dt
import re
from decimal import ROUND_HALF_UP, Decimal

from stowplan.adapters.cells import BadCell

_NUMBER = re.compile(r"[-+]?(?:\d{1,18}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][-+]?\d{1,2})?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_MICRO = Decimal("0.000001")
_YEARS = range(1970, 2200)


def number(text: str) -> Decimal:
    """Return the number that a cell holds, 0 or above. Raises BadCell where it holds none."""
    if not _NUMBER.fullmatch(text):
        shown = text if len(text) <= 40 else text[:37] + "..."
        raise BadCell(f"'{shown}' is not a number" if text else "is empty")
    value = Decimal(text)
    if value < 0:
        raise BadCell(f"{text} is negative")
    if value >= 10**18:
        raise BadCell(f"{text} is too large")
    return value


def usd(text: str) -> Decimal:
    """Return a price, to the nearest micro-dollar. Raises BadCell where there is none."""
    price = number(text)
    if price >= 10**12:
        raise BadCell(f"{text} is too large")
    return price.quantize(_MICRO, ROUND_HALF_UP)


def plain(value: Decimal) -> int | float | str:
    """Return a number as a document writes it: the same decimal, never a nearby float.

    Text where a float would be written otherwise (0.0000001, or more than 15 digits).
    """
    if value == value.to_integral_value():
        return int(value)
    nearest = float(value)
    exact = format(value.normalize(), "f")
    return nearest if repr(nearest) == exact else exact


def moment(text: str) -> dt.datetime | None:
    """Return the time that a cell tells, in UTC; a date is its beginning. None where it is none."""
    try:
        time = dt.datetime.fromisoformat(text)
        if _DATE.fullmatch(text):
            time = time.replace(tzinfo=dt.UTC)
        if time.tzinfo is None or time.year not in _YEARS:
            return None
        return time.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        return None


def zulu(time: dt.datetime) -> str:
    """Return a time as a document writes it."""
    return time.astimezone(dt.UTC).isoformat().replace("+00:00", "Z")
