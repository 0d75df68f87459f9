"""The documents of a source: one of a file or of stdin, one of each file of a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from stowplan.adapters.json_text import read_json
from stowplan.adapters.located import Document
from stowplan.adapters.places import invalid
from stowplan.adapters.text_files import read_stdin, read_text
from stowplan.adapters.yaml_text import read_yaml
from stowplan.model.errors import InvalidInput
from stowplan.model.fields import Takes
from stowplan.model.snapshot import Snapshot

_SUFFIXES = (".yaml", ".yml", ".json")
_LEAST = "a snapshot says at least 'now'"


def documents_of(source: str | Path) -> Sequence[Document]:
    """Return the documents of a path, or of stdin (`-`), in the order of their names.

    Raises InvalidInput where one can't be read.
    """
    if str(source) == "-":
        return [_document(read_stdin(), "stdin", Path())]
    path = Path(source)
    if not path.is_dir():
        return [_document(read_text(path), str(path), path.parent)]
    try:
        files = sorted(file for file in path.iterdir() if _is_read(file) and file.is_file())
    except PermissionError:
        raise invalid(str(path), "may not be read: permission denied") from None
    if not files:
        hint = "its .yaml, .yml and .json files are read"
        raise invalid(str(path), "is a folder without a snapshot in it", hint)
    return [_document(read_text(file), str(file), path, least=None) for file in files]


def is_of(source: str | Path, file: Path) -> bool:
    """Whether a path is a file of the source, or would be one of its folder if it were there."""
    path = Path(source)
    if path.is_dir():
        return _is_read(file) and file.parent.resolve() == path.resolve()
    return path.exists() and file.exists() and path.samefile(file)


def _is_read(file: Path) -> bool:
    return file.suffix.lower() in _SUFFIXES and not file.name.startswith(".")


def _document(text: str, file: str, folder: Path, least: str | None = _LEAST) -> Document:
    if not text.strip():
        raise invalid(file, "is empty", least)
    value, form = _parsed(text, file)
    if value is None and form == "yaml":
        raise invalid(file, "is empty", least)
    if not isinstance(value, Mapping):
        kind = "a list" if isinstance(value, list) else "a plain value"
        known = ", ".join(Takes(models=(Snapshot,)).names())
        raise invalid(file, f"holds {kind}, not a snapshot", f"fields: {known}", line=1)
    return Document(file, folder, text, form, value)


def _parsed(text: str, file: str) -> tuple[Any, Literal["yaml", "json"]]:  # Any: raw input
    """Return what a text holds, and how it is written: JSON by its name or by its looks."""
    suffix = Path(file).suffix.lower()
    if suffix == ".csv":
        hint = f"name it in a snapshot: machines: {{table: {Path(file).name}}}"
        raise invalid(file, "is a table, not a snapshot", hint)
    if suffix == ".json":
        return read_json(text, file), "json"
    start = text.lstrip()
    if start[0] not in "{[":
        return read_yaml(text, file), "yaml"
    try:
        return read_json(text, file), "json"
    except InvalidInput as not_json:
        try:
            return read_yaml(text, file), "yaml"
        except InvalidInput as not_yaml:
            looks_like_json = start[1:].lstrip()[:1] in ('"', "{", "[")
            raise (not_json if looks_like_json else not_yaml) from None
