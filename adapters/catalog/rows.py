"""The rows of catalog files, by what their columns are: the unified form, and SkyPilot's."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stowplan.adapters.catalog.findings import Tally
from stowplan.adapters.places import invalid
from stowplan.adapters.text_files import decoded, read_bytes, read_stdin_bytes
from stowplan.model.errors import InvalidInput, Problem
from stowplan.model.names import nearest


@dataclass(frozen=True)
class Form:
    """A form of catalog: what each of its columns is."""

    name: str
    columns: Mapping[str, str]
    """By a column's name, which part of an offer it is."""
    optional: frozenset[str]
    unread: frozenset[str] = frozenset()
    """Columns it may have, which say nothing that is used."""

    def missing(self, header: Sequence[str]) -> list[str]:
        """Return the columns that it can't do without and a header lacks."""
        return [name for name in self.columns if name not in header and name not in self.optional]

    def column(self, part: str) -> str:
        """Return the name of the column that a part of an offer stands in."""
        return next((name for name, is_in in self.columns.items() if is_in == part), part)


UNIFIED = Form(
    "the unified form",
    {
        "provider": "provider", "instance_type": "instance", "gpu": "gpu", "gpu_count": "count",
        "gpu_mem_gib": "gpu_memory", "vcpus": "cores", "mem_gib": "memory", "region": "region",
        "zone": "zone", "price_hr": "price", "spot_price_hr": "spot", "as_of": "as_of",
        "source": "source",
    },
    frozenset({"zone", "spot_price_hr", "as_of", "source"}),
)  # fmt: skip
SKYPILOT = Form(
    "SkyPilot's form",
    {
        "InstanceType": "instance", "AcceleratorName": "gpu", "AcceleratorCount": "count",
        "vCPUs": "cores", "MemoryGiB": "memory", "Region": "region", "Price": "price",
        "SpotPrice": "spot", "GpuInfo": "gpu_memory", "AvailabilityZone": "zone",
    },
    frozenset({"SpotPrice", "GpuInfo", "AvailabilityZone"}),
    frozenset({"Generation"}),
)  # fmt: skip
FORMS = (UNIFIED, SKYPILOT)
DEFAULTS = frozenset({"billing_increment_s", "minimum_s", "billing_starts"})
"""Columns by which a table of provider defaults is known."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a catalog: the text of its cells, by the part of an offer that each is."""

    file: str
    line: int
    form: Form
    cells: Mapping[str, str]

    def __getitem__(self, part: str) -> str:
        return self.cells.get(part, "")


@dataclass(frozen=True)
class Sheet:
    """What a catalog file holds."""

    file: str
    form: Form
    rows: tuple[Row, ...]
    count: int
    """How many rows it has, those that can't be read too."""


def read_sheet(path: Path, tally: Tally) -> Sheet:
    """Return the rows of a catalog file; those of another width are findings.

    `-` reads standard input. Raises InvalidInput where it can't be read or is no catalog.
    """
    file = "stdin" if str(path) == "-" else str(path)
    content = read_stdin_bytes() if str(path) == "-" else read_bytes(path)
    records = csv_records(content, file)
    line, header = next(records)
    form = _form_of(header, file, line)
    for column in header:
        if column and column not in form.columns and column not in form.unread:
            close = nearest(column, form.missing([]) + list(form.optional))
            hint = f"; did you mean '{close}'?" if close and close not in header else ""
            tally.say(file, line, "", f"the column '{column}' isn't known and isn't read{hint}")
    rows: list[Row] = []
    count = 0
    for line, cells in records:
        count += 1
        if len(cells) < len(header) or any(cell.strip() for cell in cells[len(header) :]):
            message = f"cells: {len(cells)} in this row, {len(header)} in the header"
            tally.leave_out(file, line, "", "width", message)
            continue
        named = zip(header, cells, strict=False)
        read = {form.columns[name]: cell.strip() for name, cell in named if name in form.columns}
        rows.append(Row(file, line, form, read))
    return Sheet(file, form, tuple(rows), count)


def csv_records(content: bytes, file: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row of a CSV file with the line it begins on, the header first.

    Raises InvalidInput where it isn't CSV, or has no header.
    """
    text = decoded(content, file, "a catalog is CSV text in UTF-8")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    begin, seen = 1, False
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield begin, [cell.strip() for cell in cells] if not seen else cells
                seen = True
            begin = reader.line_num + 1
    except csv.Error as error:
        ends = "unexpected end" in str(error)
        told = "a quote begins in this row and never ends" if ends else f"is not CSV: {error}"
        raise invalid(file, told, line=begin) from None
    if not seen:
        raise invalid(file, "is empty", "its first row names the columns of a catalog")


def _form_of(header: Sequence[str], file: str, line: int) -> Form:
    """Return the form that a header is of. Raises InvalidInput where it is of none."""
    twice = sorted({column for column in header if column and header.count(column) > 1})
    if twice:
        raise InvalidInput(
            Problem((), f"the column '{column}' is there twice", None, file, line)
            for column in twice
        )
    whole = [form for form in FORMS if not form.missing(header)]
    if whole:
        return whole[0]
    if any(mark in header[0] for mark in ";\t"):
        raise invalid(file, "is no catalog", "columns are separated by commas", line=line)
    if "provider" in header and DEFAULTS & {*header}:
        hint = "give it with --defaults, beside a catalog"
        raise invalid(file, "holds providers' defaults, not offers", hint, line=line)
    closest = max(FORMS, key=lambda form: sum(c in form.columns for c in _meant(header, form)))
    meant = _meant(header, closest)
    if not any(column in closest.columns for column in meant):
        expected = "; or ".join(f"{', '.join(form.missing([]))} ({form.name})" for form in FORMS)
        raise invalid(file, "is no catalog", f"its columns are {expected}", line=line)
    raise InvalidInput(
        Problem((), f"the column '{name}' is missing", _hint(name, meant, closest), file, line)
        for name in closest.missing(header)
    )


def _meant(header: Sequence[str], form: Form) -> dict[str, str]:
    """Return the columns of a form that a header has or most likely means: theirs to its own."""
    meant = {column: column for column in header if column in form.columns}
    for column in header:
        if column and column not in meant:
            close = nearest(column, [name for name in form.columns if name not in meant])
            if close:
                meant[close] = column
    return meant


def _hint(name: str, meant: Mapping[str, str], form: Form) -> str:
    if name in meant:
        return f"is it '{meant[name]}'?"
    return f"expected in {form.name}: {', '.join(form.missing([]))}"
