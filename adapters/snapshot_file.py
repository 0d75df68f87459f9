"""Snapshots from files: YAML, JSON, stdin, or a folder whose files are merged into one."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stowplan.adapters.documents import documents_of
from stowplan.adapters.located import Locator
from stowplan.adapters.merging import merged
from stowplan.adapters.table_lists import with_tables
from stowplan.model.errors import InvalidInput
from stowplan.model.snapshot import Snapshot


def load(source: str | Path) -> Snapshot:
    """Return the snapshot of a file, of a folder, or of stdin (`-`).

    A list may be `{table: file}`, a CSV or Parquet file; its path is relative to the file that
    names it. Raises InvalidInput with all that is wrong, each with its file, line and field.
    """
    with _garbage_kept():
        documents = [with_tables(document) for document in documents_of(source)]
        whole = merged(documents)
        try:
            return Snapshot.read(whole)
        except InvalidInput as error:
            problems = Locator(documents).located(error.problems)
    raise InvalidInput(problems)


@contextmanager
def _garbage_kept() -> Iterator[None]:
    """Look for no garbage meanwhile: among millions of new values that took half of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
