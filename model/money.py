"""Money: whole micro-dollars, exact for any time at any rate, and rounded up where it must be."""

from __future__ import annotations

from decimal import Decimal

MICRO = 10**6
"""Micro-dollars in a dollar."""

HOUR_S = 3600


def ceil_div(amount: int, by: int) -> int:
    """Return an amount over a positive number, rounded up."""
    return -(-amount // by)


def micro_of(usd: Decimal) -> int:
    """Return dollars in micro-dollars. Raises ValueError where it isn't a whole number of them."""
    micro = usd.scaleb(6)
    if micro != micro.to_integral_value():
        raise ValueError(f"{usd} dollars aren't a whole number of micro-dollars")
    return int(micro)


def usd_of(micro: int) -> Decimal:
    """Return micro-dollars in dollars, exactly and without needless zeros: 12500000 is 12.5."""
    return Decimal(written(micro))


def charge(rate: int, seconds: int) -> int:
    """Return what so many seconds cost at a rate in micro-dollars an hour.

    Exact, but for the last micro-dollar: it is charged whole. A negative time is a refund, and
    the same rule makes it the smaller one.
    """
    return ceil_div(rate * seconds, HOUR_S)


def billed_seconds(used_s: int, increment_s: int = 1, minimum_s: int = 0) -> int:
    """Return the seconds charged for those used: up to the increment, and at least the minimum.

    Nothing used is nothing charged. A minimum that is no whole number of increments is charged as
    it is.
    """
    if used_s <= 0:
        return 0
    return max(ceil_div(used_s, increment_s) * increment_s, minimum_s)


def beyond_paid(used_s: int, paid_s: int) -> int:
    """Return the seconds used that aren't paid for already."""
    return max(0, used_s - paid_s)


def written(micro: int) -> str:
    """Return dollars exactly, as records hold them: "0", "95.68", "0.398667"."""
    sign, whole, part = "-" if micro < 0 else "", *divmod(abs(micro), MICRO)
    decimals = f"{part:06}".rstrip("0")
    return f"{sign}{whole}.{decimals}" if decimals else f"{sign}{whole}"


def in_cents(micro: int) -> str:
    """Return dollars as people read them: to the cent, and never less than is charged."""
    cents = ceil_div(micro, MICRO // 100)
    sign, whole, part = "-" if cents < 0 else "", *divmod(abs(cents), 100)
    return f"{sign}{whole:,}.{part:02}"
