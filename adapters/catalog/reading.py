"""Reads catalogs of cloud offers as offerings: the unified form, and SkyPilot's vms.csv.

Each price of a row is an offering: one on demand, and one that can be interrupted. What a row
doesn't tell stays unknown, and a row of which nothing can be made is a finding. Where two rows
offer the same, the newer price stays: prices of different dates are never mixed in one offer.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stowplan.adapters.catalog.cells import plain, zulu
from stowplan.adapters.catalog.dates import one_each, say_dates
from stowplan.adapters.catalog.defaults import Defaults, read_defaults
from stowplan.adapters.catalog.findings import RowsFinding, Tally
from stowplan.adapters.catalog.memory import sums_up
from stowplan.adapters.catalog.offers import Offer, Reader
from stowplan.adapters.catalog.rows import SKYPILOT, Sheet, read_sheet
from stowplan.adapters.catalog.terms import say_terms
from stowplan.adapters.findings import Finding
from stowplan.adapters.places import invalid
from stowplan.model.errors import InvalidInput, Problem
from stowplan.model.fleet import Offering


@dataclass(frozen=True)
class Catalog:
    """The offerings of catalogs, and the findings about their rows."""

    now: dt.datetime
    offers: tuple[Offer, ...]
    findings: tuple[Finding, ...]
    rows: int
    """How many rows the catalogs have, those of which nothing is made too."""

    @property
    def offerings(self) -> tuple[Offering, ...]:
        """The offerings, in the order of the rows."""
        return tuple(offer.offering for offer in self.offers)

    @property
    def rows_left_out(self) -> int:
        """How many rows are left out: the whole row, or one of its prices."""
        told = (finding for finding in self.findings if isinstance(finding, RowsFinding))
        out = (finding for finding in told if finding.left_out)
        return len({(finding.file, line) for finding in out for line in finding.lines})

    def document(self) -> dict[str, Any]:  # Any: a document, as YAML or JSON holds it
        """Return a snapshot document with these offerings: plain values, what is known only."""
        return {
            "version": 1,
            "name": "catalog",
            "now": zulu(self.now),
            "fleet": {"offerings": [_written(offering) for offering in self.offerings]},
        }


def read_catalog(
    paths: Sequence[Path],
    *,
    defaults: Path | None = None,
    provider: str | None = None,
    as_of: dt.datetime | None = None,
    now: dt.datetime | None = None,
) -> Catalog:
    """Return the offerings of catalog files, with what was assumed and what is left out.

    `-` reads standard input. `defaults` is a table of the providers' terms. `provider` is whose
    SkyPilot's files are (they don't tell; else their folder or file is named after it), `as_of`
    when prices held whose rows don't tell, `now` the snapshot's time: that of the newest price
    unless given. Raises InvalidInput with every file that can't be read, or is no catalog.
    """
    if any(time is not None and time.tzinfo is None for time in (as_of, now)):
        raise ValueError("`as_of` and `now` need a time zone")
    tally = Tally()
    known, sheets = _read(paths, defaults, provider, tally)
    offers: list[Offer] = []
    for sheet in sheets:
        reader = Reader(tally, known or {}, as_of, sums_up(sheet.rows))
        for row in sheet.rows:
            offers += reader.offers(row)
    kept = one_each(offers, tally)
    say_dates(kept, tally)
    say_terms([offer.offering for offer in kept], known, tally)
    at = _now(kept, now, tally)
    return Catalog(at, tuple(kept), tuple(tally.findings()), sum(s.count for s in sheets))


def _read(
    paths: Sequence[Path], defaults: Path | None, provider: str | None, tally: Tally
) -> tuple[Mapping[str, Defaults] | None, list[Sheet]]:
    """Return the defaults and every file. Raises InvalidInput with all that can't be read."""
    problems: list[Problem] = []
    known: Mapping[str, Defaults] | None = None
    sheets: list[Sheet] = []
    if not paths:
        problems.append(Problem((), "no catalog given"))
    if defaults is not None:
        try:
            known = read_defaults(defaults, tally)
        except InvalidInput as error:
            problems += error.problems
    for number, path in enumerate(paths):
        if path in paths[:number]:
            problems.append(Problem((), "is given twice", file=str(path)))
            continue
        try:
            sheets.append(_of_provider(read_sheet(path, tally), path, provider))
        except InvalidInput as error:
            problems += error.problems
    if provider and sheets and not any(sheet.form is SKYPILOT for sheet in sheets):
        problems.append(Problem((), "--provider is for SkyPilot's form: these files tell theirs"))
    if problems:
        raise InvalidInput(problems)
    return known, sheets


def _of_provider(sheet: Sheet, path: Path, provider: str | None) -> Sheet:
    """Return a sheet whose rows tell their provider, as SkyPilot's don't."""
    if sheet.form is not SKYPILOT:
        return sheet
    name = provider or provider_of(path)
    if not name:
        hint = "name it with --provider, or put the file into a folder of its name"
        raise invalid(sheet.file, "doesn't tell whose offers they are", hint)
    rows = (replace(row, cells={**row.cells, "provider": name}) for row in sheet.rows)
    return replace(sheet, rows=tuple(rows))


def provider_of(path: Path) -> str | None:
    """Return whose offers a file holds by its name: `lambda/vms.csv`, `lambda.csv`."""
    name = path.stem if path.stem.lower() != "vms" else path.parent.name
    name = name.removesuffix("vms").rstrip("-_.")
    return name if name.strip("-.") else None


def _now(offers: Sequence[Offer], now: dt.datetime | None, tally: Tally) -> dt.datetime:
    if now is not None:
        return now
    told = [time for offer in offers if (time := offer.offering.price.as_of)]
    if told:
        return max(told)
    tally.say(None, None, "now", "no price tells a time: the clock's is taken")
    return dt.datetime.now(dt.UTC).replace(microsecond=0)


def _written(offering: Offering) -> dict[str, Any]:
    written = offering.model_dump(exclude_unset=True)
    written["rate_usd_per_hour"] = plain(offering.rate_usd_per_hour)
    if offering.price.as_of:
        written["price"]["as_of"] = zulu(offering.price.as_of)
    return written
