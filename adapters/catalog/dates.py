"""Prices of different dates: of two for the same thing the newer stays, and the rest is said."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from stowplan.adapters.catalog.cells import plain
from stowplan.adapters.catalog.findings import Tally
from stowplan.adapters.catalog.offers import Offer

_LONG_AGO = dt.datetime.min.replace(tzinfo=dt.UTC)


def one_each(offers: Sequence[Offer], tally: Tally) -> list[Offer]:
    """Return one offer of each name, the newest, or the first of those of one date."""
    kept: dict[str, Offer] = {}
    for offer in offers:
        name = offer.offering.name
        held = kept.get(name)
        if held is None:
            kept[name] = offer
            continue
        newer = _held_at(offer) > _held_at(held)
        if newer:
            kept[name] = offer
        _say_twice(held if newer else offer, offer if newer else held, tally)
    return list(kept.values())


def _say_twice(out: Offer, stays: Offer, tally: Tally) -> None:
    where = f"line {stays.row.line}"
    if stays.row.file != out.row.file:
        where = f"{stays.row.file}:{stays.row.line}"
    told, kind = f"'{out.offering.name}' stands on {where} too", "the same"
    price, other = out.offering.rate_usd_per_hour, stays.offering.rate_usd_per_hour
    dates = [_day(offer) for offer in (stays, out)]
    if _held_at(stays) > _held_at(out):
        kind, told = "older", f"{told}, as of {dates[0]}, newer than {dates[1]}"
    elif price != other or out.offering.accelerator != stays.offering.accelerator:
        kind = "another"
        told += f" and differs, {plain(other)} there and {plain(price)} here, of the same date"
    tally.leave_out(out.row.file, out.row.line, "", f"twice, {kind}", told)


def _held_at(offer: Offer) -> dt.datetime:
    return offer.offering.price.as_of or _LONG_AGO


def _day(offer: Offer) -> str:
    as_of = offer.offering.price.as_of
    return as_of.date().isoformat() if as_of else "an unknown date"


def say_dates(offers: Sequence[Offer], tally: Tally) -> None:
    """Say that prices are of several dates, and whose."""
    days: dict[str, set[dt.date]] = {}
    for offer in offers:
        if offer.offering.price.as_of:
            days.setdefault(offer.offering.provider, set()).add(offer.offering.price.as_of.date())
    every = sorted({day for some in days.values() for day in some})
    if len(every) > 1:
        told = f"prices are of {len(every)} dates from {every[0]} to {every[-1]}"
        several = ", ".join(sorted(name for name, some in days.items() if len(some) > 1))
        within = f", also within {several}" if several else ""
        tally.say(None, None, "price.as_of", f"{told}{within}: they are compared as given")
