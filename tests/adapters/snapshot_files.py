"""Files to read a snapshot from, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from stowplan.adapters.snapshot_file import load
from stowplan.model.errors import InvalidInput


def written(folder: Path, **files: str | bytes) -> Path:
    """Write files (`a__b` is a.b) and return the first."""
    paths = [folder / name.replace("__", ".") for name in files]
    for path, content in zip(paths, files.values(), strict=True):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return paths[0]


def problem(source: str | Path) -> str:
    with pytest.raises(InvalidInput) as caught:
        load(source)
    return str(caught.value)
