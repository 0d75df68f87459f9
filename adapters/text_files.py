"""Text from files and from stdin: UTF-8, and a plain word where it isn't."""

from __future__ import annotations

import sys
from pathlib import Path

from stowplan.adapters.places import invalid
from stowplan.model.names import nearest

_MAGIC = {
    b"PAR1": "a Parquet file",
    b"\x1f\x8b": "a gzip file",
    b"PK\x03\x04": "a zip file or a spreadsheet",
    b"\x28\xb5\x2f\xfd": "a zstd file",
    b"SQLite format 3": "a SQLite file",
    b"\x7fELF": "a program",
    b"\x89PNG": "a picture",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}


def read_text(path: Path) -> str:
    """Return the text of a file. Raises InvalidInput where there is none."""
    return decoded(read_bytes(path), str(path))


def read_stdin() -> str:
    """Return the text on stdin. Raises InvalidInput where it is closed, or isn't text."""
    return decoded(read_stdin_bytes(), "stdin")


def read_stdin_bytes(most: int = -1) -> bytes:
    """Return what stdin holds, or so many bytes. Raises InvalidInput where it can't be read."""
    if sys.stdin is None:
        raise invalid("stdin", "is closed: there is nothing to read")
    try:
        return sys.stdin.buffer.read(most)
    except OSError as error:
        raise invalid("stdin", f"can't be read: {(error.strerror or str(error)).lower()}") from None


def read_bytes(path: Path) -> bytes:
    """Return what a file holds. Raises InvalidInput where it can't be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        if path.is_symlink():
            message = f"is a link to '{path.readlink()}', which isn't there"
            raise invalid(str(path), message) from None
        raise invalid(str(path), "there is no such file", _like(path)) from None
    except PermissionError:
        raise invalid(str(path), "may not be read: permission denied") from None
    except IsADirectoryError:
        raise invalid(str(path), "is a folder, not a file") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a null byte
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise invalid(str(path), f"can't be read: {reason}") from None


def decoded(content: bytes, file: str, due: str = "a snapshot is YAML or JSON in UTF-8") -> str:
    """Return bytes as text. Raises InvalidInput, with what is due, where they aren't UTF-8."""
    kind = next((kind for magic, kind in _MAGIC.items() if content.startswith(magic)), None)
    if kind is None and b"\0" in content[:65536]:
        kind = "binary"
    if kind is not None:
        raise invalid(file, f"is {kind}", due)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"is not UTF-8: byte 0x{content[error.start]:02x}"
        raise invalid(file, message, "save it as UTF-8", line=line) from None


def _like(path: Path) -> str | None:
    """Return the name of a file beside it that was probably meant."""
    try:
        names = [other.name for other in path.parent.iterdir()]
    except OSError:
        return None
    close = nearest(path.name, names)
    return f"did you mean '{path.with_name(close)}'?" if close else None
