"""Units in the names of fields, and what an amount in another unit comes to in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

_MEMORY = {"b": Decimal(1), "bytes": Decimal(1)} | {
    prefix + ending: Decimal(base**power)
    for power, prefix in enumerate("kmgtp", start=1)
    for ending, base in (("", 1000), ("b", 1000), ("i", 1024), ("ib", 1024))
}
_TIME = {
    "ms": Decimal("0.001"),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), Decimal(1)),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), Decimal(60)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), Decimal(3600)),
    **dict.fromkeys(("d", "day", "days"), Decimal(86400)),
}
_POWER = {"w": Decimal(1), "watts": Decimal(1), "kw": Decimal(1000)}

_FIELDS: Mapping[str, Mapping[str, Decimal]] = {
    "bytes": _MEMORY, "mib": _MEMORY, "gb": _MEMORY, "s": _TIME, "w": _POWER, "watts": _POWER,
}  # fmt: skip
"""By the ending of a field's name: the units of its kind."""

_AMOUNT = re.compile(r"\s*([0-9]{1,18}(?:\.[0-9]{1,18})?)\s*([a-zA-Z]{1,8})\s*", re.ASCII)


def in_unit_of(field: str, amount: Decimal, unit: str) -> str | None:
    """Return what an amount comes to in the unit that ends a field's name, as it is written.

    None where the field has no such unit, or it doesn't come to a whole number.
    """
    own = field.rpartition("_")[2].lower()
    units = _FIELDS.get(own, {})
    if unit.lower() not in units:
        return None
    here = amount * units[unit.lower()] / units[own]
    return str(int(here)) if here == here.to_integral_value() else None


def read_amount(field: str, text: str) -> str | None:
    """Return what a text such as "64GiB" comes to in a field's unit; None where it is no amount."""
    match = _AMOUNT.fullmatch(text)
    return in_unit_of(field, Decimal(match[1]), match[2]) if match else None


def renamed(name: str, meant: str, given: object) -> str | None:
    """Return what a number under a name with one unit comes to under a name with another."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    if not abs(given) < 10**18:  # too large to be meant, infinite, or not a number
        return None
    unit = name.rpartition("_")[2]
    if "_" not in name or unit == meant.rpartition("_")[2]:
        return None
    return in_unit_of(meant, Decimal(str(given)), unit)
