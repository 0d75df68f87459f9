"""Providers' defaults: how each bills, how long its instances take to boot, what it takes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from stowplan.adapters.catalog.cells import number, plain
from stowplan.adapters.catalog.findings import Tally
from stowplan.adapters.catalog.rows import csv_records
from stowplan.adapters.cells import BadCell
from stowplan.adapters.places import invalid
from stowplan.adapters.text_files import read_bytes
from stowplan.model.names import nearest

_NUMBERS = {
    "billing_increment_s": ("billing", "increment_s"),
    "minimum_s": ("billing", "minimum_s"),
    "startup_p50_s": ("startup", "boot_p50_s"),
    "startup_p50_s_proposed": ("startup", "boot_p50_s"),
    "startup_p90_s": ("startup", "boot_p90_s"),
    "startup_p90_s_proposed": ("startup", "boot_p90_s"),
    "reclaims_per_hour": ("reclaims", "per_hour"),
    "uptime_p50_s": ("reclaims", "uptime_p50_s"),
    "uptime_p90_s": ("reclaims", "uptime_p90_s"),
}
_OTHER = ("provider", "billing_starts", "confidence", "source")
_UNREAD = ("spot_notice_s",)
_COLUMNS = (*_NUMBERS, *_OTHER, *_UNREAD)
_STARTS = {
    "creation": "creation",
    "created": "creation",
    "ready": "ready",
    "after health checks pass": "ready",
}
_BETWEEN = ("running state", "pod start", "loading")
"""After creation and before readiness: counted from creation, which is never too little."""
_UNKNOWN = ("", "unknown")
PROPOSED = "proposed"
"""Said of startup times that are no measurement."""


class Note(NamedTuple):
    """What had to be assumed about a provider's terms."""

    column: str
    kind: str
    message: str


@dataclass(frozen=True)
class Defaults:
    """What holds for every offer of a provider; what isn't known isn't in it."""

    provider: str
    file: str
    line: int
    parts: Mapping[str, Mapping[str, Any]]  # Any: what the fields of an offering hold
    """Of an offering's billing, startup and reclaims: the fields that are known."""
    notes: tuple[Note, ...]
    proposed: bool
    """Whether its startup is a proposal, as the names of its columns say."""

    def part(self, name: str) -> dict[str, Any]:  # Any: as above
        """Return what is known of a part, as a mapping of its own."""
        return dict(self.parts.get(name, {}))


def read_defaults(path: Path, tally: Tally) -> Mapping[str, Defaults]:
    """Return the defaults of each provider that a table holds, by its name in lower case.

    Raises InvalidInput where the table can't be read or is of another kind.
    """
    file = str(path)
    (line, header), *records = csv_records(read_bytes(path), file)
    if "provider" not in header or not any(
        name in header for name in (*_NUMBERS, "billing_starts")
    ):
        hint = f"its columns are provider and some of {', '.join(_COLUMNS[:4])}, billing_starts ..."
        raise invalid(file, "is no table of providers' defaults", hint, line=line)
    for name in header:
        if name not in _COLUMNS:
            close = nearest(name, [column for column in _COLUMNS if column not in header])
            hint = f"; did you mean '{close}'?" if close else ""
            tally.say(file, line, "", f"the column '{name}' isn't known and isn't read{hint}")
    found: dict[str, Defaults] = {}
    for line, cells in records:
        if len(cells) != len(header):
            told = f"cells: {len(cells)} in this row, {len(header)} in the header"
            tally.assume(file, line, "", "width", f"{told}: its terms are taken as unknown")
            continue
        row = dict(zip(header, (cell.strip() for cell in cells), strict=True))
        key = row["provider"].lower()
        if not key or key in found:
            told = f"'{key}' is there already: the first row holds" if key else "is empty"
            tally.assume(file, line, "provider", "twice" if key else "empty", told)
            continue
        found[key] = _defaults(row, file, line)
    return found


def _defaults(row: Mapping[str, str], file: str, line: int) -> Defaults:
    parts: dict[str, dict[str, Any]] = {"billing": {}, "startup": {}, "reclaims": {}}
    notes: list[Note] = []
    for column, (part, field) in _NUMBERS.items():
        text = row.get(column, "")
        if text.lower() in _UNKNOWN:
            continue
        try:
            parts[part][field] = _read(text, field)
        except BadCell as error:
            notes.append(Note(column, "bad", f"{error}: taken as unknown"))
    if parts["reclaims"]:
        parts["reclaims"]["source"] = row.get("source") or file
        if row.get("confidence") in ("low", "medium", "high"):
            parts["reclaims"]["confidence"] = row["confidence"]
    if said := row.get("billing_starts", ""):
        starts, told = _starts(said)
        if starts:
            parts["billing"]["starts"] = starts
        if told:
            notes.append(Note("billing_starts", "between" if starts else "strange", told))
    columns = (name for name in row if name.endswith("_proposed"))
    proposed = any(row[name].lower() not in _UNKNOWN for name in columns)
    source = row.get("source") or f"{Path(file).name}, line {line}"
    for part in ("billing", "startup"):
        if parts[part]:
            parts[part]["source"] = source
    if proposed and parts["startup"]:
        parts["startup"]["source"] = f"{PROPOSED}; {source}"
    return Defaults(row["provider"], file, line, parts, tuple(notes), proposed)


def _read(text: str, field: str) -> int | float | str:
    """Return a time in whole seconds, or a rate. Raises BadCell where it is none."""
    value = number(text)
    if field == "per_hour":
        return plain(value)
    if value != value.to_integral_value() or value > 10**10:
        raise BadCell(f"{text} is no whole number of seconds up to 10^10")
    if field == "increment_s" and not value:
        raise BadCell("an increment of 0 s is none")
    return int(value)


def _starts(text: str) -> tuple[str | None, str]:
    """Return from when a provider bills, as an offering says it (None: unknown), and a note."""
    said = text.split("(")[0].strip().lower()
    if said in _UNKNOWN:
        return None, ""
    if said in _STARTS:
        return _STARTS[said], ""
    if said in _BETWEEN:
        told = f"'{text}' is between creation and ready: counted from creation, never too little"
        return "creation", told
    known = ", ".join((*_STARTS, *_BETWEEN))
    return None, f"'{text}' isn't known: taken as unknown; known: {known}"
