"""A list may stand in a table: `machines: {table: machines.csv}`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stowplan.adapters.located import Document, Locator
from stowplan.adapters.tables import read_table
from stowplan.model.errors import InvalidInput, Problem
from stowplan.model.errors import Path as FieldPath
from stowplan.model.fields import Takes
from stowplan.model.snapshot import Snapshot


def with_tables(document: Document) -> Document:
    """Put the rows of every table that a document names into its place, and return it.

    Raises InvalidInput where a table can't be read.
    """
    expander = _Expander(document)
    document.value = expander.expand(document.value, Takes(models=(Snapshot,)), (), document.folder)
    if expander.problems:
        raise InvalidInput(Locator([document]).located(expander.problems))
    return document


class _Expander:
    def __init__(self, document: Document) -> None:
        self.problems: list[Problem] = []
        self._document = document

    def expand(self, value: Any, takes: Takes, path: FieldPath, folder: Path) -> Any:  # raw input
        """Return a value with the rows of its tables in their place."""
        if isinstance(value, dict):
            if takes.items is not None and "table" in value:
                return self._rows(value, takes.items, path, folder)
            for key, inner in value.items():
                if isinstance(inner, dict | list) and (below := takes.below(key)) is not None:
                    value[key] = self.expand(inner, below, (*path, key), folder)
        elif isinstance(value, list) and takes.items is not None:
            for index, inner in enumerate(value):
                if isinstance(inner, dict | list):
                    value[index] = self.expand(inner, takes.items, (*path, index), folder)
        return value

    def _rows(self, value: dict[str, Any], item: Takes, path: FieldPath, folder: Path) -> list[Any]:
        name = value["table"]
        for other in value.keys() - {"table"}:
            message = f"unknown field '{other}'"
            self.problems.append(Problem((*path, other), message, "'table' stands alone"))
        if not isinstance(name, str) or not name:
            message = "must be the path of a .csv or .parquet file"
            self.problems.append(Problem((*path, "table"), message))
            return []
        file = folder / name
        try:
            table = read_table(file, item)
        except InvalidInput as error:
            self.problems.extend(_told(error, (*path, "table")))
            return []
        self._document.tables[path] = table
        for index, row in enumerate(table.rows):
            table.rows[index] = self.expand(row, item, (*path, index), file.parent)
        return table.rows


def _told(error: InvalidInput, path: FieldPath) -> Iterator[Problem]:
    """Yield a table's problems; one that has no line stands where the table is named."""
    for problem in error.problems:
        if problem.line is not None:
            yield problem
        else:
            field = f"{problem.field}: " if problem.field else ""
            yield Problem(path, f"{problem.file}: {field}{problem.message}", problem.hint)
