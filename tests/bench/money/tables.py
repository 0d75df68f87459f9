"""Tables of figures, as markdown, and the marks between which a page keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"
PAGE = DOCS / "benchmarks.md"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table: the first column to the left, the others to the right."""
    head = f"| {' | '.join(columns)} |\n| --- |{' ---: |' * (len(columns) - 1)}\n"
    return head + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def marks(name: str) -> tuple[str, str]:
    """Return the marks between which a page has a table."""
    return f"<!-- {name}: made with --markdown; don't edit -->\n", f"<!-- end of {name} -->"


def kept(page: str, name: str) -> str:
    """Return what a page has between its marks. Raises ValueError where they lack."""
    begin, end = marks(name)
    _, found, rest = page.partition(begin)
    inside, ended, _ = rest.partition(end)
    if not (found and ended):
        raise ValueError(f"the page lacks its marks, {begin.strip()!r} and {end!r}")
    return inside.strip("\n") + "\n"


def put(page: Path, name: str, text: str) -> None:
    """Write a table between its marks in a page."""
    old = page.read_text(encoding="utf-8")
    kept(old, name)
    begin, end = marks(name)
    before, _, rest = old.partition(begin)
    _, _, after = rest.partition(end)
    page.write_text(f"{before}{begin}\n{text.strip(chr(10))}\n\n{end}{after}", encoding="utf-8")
