"""Lists that stand in a CSV or Parquet file, read with pandas: `machines: {table: machines.csv}`.

The first row of a CSV file names the columns; a column is a field of the item, and a field below
it has dots (`labels.topology/rack`, `devices.count`). An empty cell leaves the field out.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stowplan.adapters.cells import BadCell, read_cell, read_value
from stowplan.adapters.columns import Column, columns_of
from stowplan.adapters.places import Inside, Place, invalid, place_of
from stowplan.adapters.text_files import decoded, read_bytes
from stowplan.model.errors import InvalidInput, Problem
from stowplan.model.fields import Takes

_KINDS = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}
_HEADER_LINE = 1


@dataclass(frozen=True)
class Table:
    """A list that a file holds."""

    file: str
    rows: list[Any]
    """The items, as a YAML file would give them."""
    lines: Sequence[int | None]
    """The line of each; None where the file has no lines."""
    numbers: Sequence[int]
    """The number of each row, counted from 1 below the header."""

    def place(self) -> Place:
        """Return where its rows stand."""
        items = [
            place_of(row, self.file, line, "" if line else f"row {number}")
            for row, line, number in zip(self.rows, self.lines, self.numbers, strict=True)
        ]
        return Place(self.file, _HEADER_LINE, inside=lambda: Inside(items=items))


def read_table(path: Path, item: Takes) -> Table:
    """Return the list that a table holds, for a list whose items take what `item` says.

    Raises InvalidInput where it can't be read, or a column or a cell is wrong.
    """
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise invalid(str(path), "is no table", "a table is a .csv or .parquet file")
    content = read_bytes(path)
    if kind == "csv":
        return _read_csv(
            decoded(content, str(path), "a .csv file is text in UTF-8"), str(path), item
        )
    return _read_parquet(content, str(path), item)


def _read_csv(text: str, file: str, item: Takes) -> Table:
    import pandas as pd  # heavy, and needed here only

    lines = _lines(text, file)
    frame = pd.read_csv(io.StringIO(text), header=None, dtype=str, na_filter=False)
    table = [[str(cell).strip() for cell in frame[column].tolist()] for column in frame.columns]
    columns = columns_of([cells[0] for cells in table], item, file, lines[0])
    body = [cells[1:] for cells in table]
    where: Sequence[int | None] = lines[1:]
    if len(where) != len(body[0]):  # pandas and csv disagree on what an empty line is
        where = [None] * len(body[0])
    problems: list[Problem] = []
    read: list[list[Any]] = []
    for column, cells in zip(columns, body, strict=True):
        values: list[Any] = []
        for cell, line in zip(cells, where, strict=True):
            try:
                values.append(read_cell(cell, column.takes) if cell else None)
            except BadCell as error:
                name = ".".join(column.path)
                problems.append(Problem((), str(error), error.hint, file, line, f"column {name}"))
        read.append(values)
    if problems:
        raise InvalidInput(problems)
    return _table(file, columns, read, where)


def _lines(text: str, file: str) -> list[int]:
    """Return the line on which each row begins. Raises InvalidInput where rows differ in width."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    lines: list[int] = []
    problems: list[Problem] = []
    width = 0
    begin = 1
    try:
        for row in reader:
            if len(row) > 1 or (row and row[0].strip()):
                width = width or len(row)
                lines.append(begin)
                if len(row) != width:
                    message = f"cells: {len(row)} in this row, {width} in the header"
                    problems.append(Problem((), message, None, file, begin))
            begin = reader.line_num + 1
    except csv.Error as error:
        message, hint = f"is not CSV: {error}", None
        if "unexpected end" in str(error):
            message, hint = "a quote begins in this row and never ends", None
        elif "expected after" in str(error):
            message, hint = "a quote ends within a cell", 'a quote within quotes is written ""'
        raise invalid(file, message, hint, line=begin) from None
    if not lines:
        raise invalid(file, "is empty", "its first row names the columns")
    if problems:
        raise InvalidInput(problems)
    return lines


def _read_parquet(content: bytes, file: str, item: Takes) -> Table:
    import pandas as pd  # heavy, and needed here only
    import pyarrow as pa

    try:
        frame = pd.read_parquet(io.BytesIO(content), dtype_backend="pyarrow")
        if any(name is not None for name in frame.index.names):
            frame = frame.reset_index()
        arrow = pa.Table.from_pandas(frame, preserve_index=False)
    except (OSError, ValueError) as error:  # pyarrow's errors are of both kinds
        reason = (str(error).splitlines() or ["no reason given"])[0]
        raise invalid(file, f"is not Parquet: {reason}") from None
    columns = columns_of([str(name) for name in arrow.column_names], item, file, None)
    read: list[list[Any]] = []
    for column, values in zip(columns, arrow.columns, strict=True):
        try:
            read.append([read_value(value, column.takes) for value in values.to_pylist()])
        except BadCell as error:
            message = f"the column '{'.'.join(column.path)}' {error}"
            raise invalid(file, message, error.hint) from None
    return _table(file, columns, read, [None] * arrow.num_rows)


def _table(
    file: str,
    columns: Sequence[Column],
    read: Sequence[Sequence[Any]],
    lines: Sequence[int | None],
) -> Table:
    """Put columns together to rows; a row without any value is left out."""
    rows: list[Any] = []
    kept: list[int] = []
    for index, cells in enumerate(zip(*read, strict=True)):
        if all(cell is None for cell in cells):
            continue
        kept.append(index)
        row: dict[str, Any] = {}
        for column, cell in zip(columns, cells, strict=True):
            if cell is None:
                continue
            if not column.path:
                rows.append(cell)
                break
            inner = row
            for part in column.path[:-1]:
                inner = inner.setdefault(part, {})
            inner[column.path[-1]] = cell
        else:
            rows.append(row)
    return Table(file, rows, [lines[index] for index in kept], [index + 1 for index in kept])
