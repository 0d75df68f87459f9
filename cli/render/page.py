"""A page of text: as wide as the terminal, in colour where that is seen, plain when piped."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from stowplan.cli.render.text import broken, printable

PIPED_WIDTH = 100
"""Columns of a page that goes to a pipe or a file; `COLUMNS` overrides it."""
NARROWEST = 40
NARROWEST_NAME = 20
WRAPPED_NAME = 32
"""Columns of long names where others are wrapped too, at most."""
LEAST_BESIDE = 12
"""Columns that each of the others has at least beside names that aren't wrapped."""
MOST_DRAWN = 1000
"""More rows than this are written without colour, and not wrapped."""

STYLES = {
    "placed": "green",
    "kept": "cyan",
    "held": "yellow",
    "waiting": "yellow",
    "refused": "red",
    "withdrawn": "magenta",
}


class Page:
    """What is to be shown, line by line; `text` gives it as one string."""

    def __init__(self, width: int | None = None, *, colour: bool | None = None) -> None:
        """Take width and colour from standard output where they aren't given."""
        terminal = sys.stdout.isatty()
        seen = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self._colour = seen if colour is None else colour
        self._width = max(NARROWEST, width or _columns(terminal))
        self._out = io.StringIO()
        self._console = Console(
            file=self._out,
            force_terminal=self._colour,
            no_color=not self._colour,
            width=self._width,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )

    @property
    def width(self) -> int:
        """How many columns a line has."""
        return self._width

    def add(self, renderable: RenderableType, indent: int = 0) -> None:
        """Add a paragraph or a table, so many columns in."""
        if isinstance(renderable, Text) and not self._colour:
            plain = renderable.plain
            if "\n" not in plain and indent + width_of(plain) <= self.width:
                self._out.write(f"{' ' * indent}{plain}\n")  # as rich would, much faster
                return
        self._console.print(Padding(renderable, (0, 0, 0, indent)) if indent else renderable)

    def add_rows(
        self,
        grid: Table,
        rows: Sequence[Sequence[str | Text]],
        indent: int = 0,
        names: str | None = None,
    ) -> None:
        """Add a table with these rows; one of thousands without colour, and never wrapped.

        Where it is too wide, the column of `names` is cut at the slashes of long ones.
        Rich takes a third of a millisecond for each cell, so that what needs neither colour nor
        wrapping is written without it.
        """
        cells = [[cell if isinstance(cell, str) else cell.plain for cell in row] for row in rows]
        lines = _lines(grid, cells)
        fits = all(indent + width_of(line) <= self.width for line in lines)
        if len(rows) > MOST_DRAWN or (fits and not self._colour):
            self._out.writelines(f"{' ' * indent}{line}\n" for line in lines)
            return
        for column, told in enumerate(grid.columns):
            if told.header == names:
                rows = [*_broken(grid, rows, column, self.width - indent)]
        for row in rows:
            grid.add_row(*row)
        self.add(grid, indent)

    def space(self) -> None:
        """Add an empty line."""
        self._console.print()

    def heading(self, text: str) -> None:
        """Add an empty line and a heading."""
        self.space()
        self.add(words((text, "bold")))

    def text(self) -> str:
        """Return the page, without spaces at the ends of lines."""
        lines = self._out.getvalue().splitlines()
        return "".join(line.rstrip() + "\n" for line in lines)


def width_of(text: str) -> int:
    """Return how many columns a line takes: letters of some scripts take two."""
    return len(text) if text.isascii() else cell_len(text)


def _lines(grid: Table, rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table as rich draws it where no cell is wrapped."""
    header = [str(column.header) for column in grid.columns]
    told = [header, *rows] if grid.show_header else rows
    widths = _widths(told)
    right = [column.justify == "right" for column in grid.columns]
    lines = []
    for row in told:
        gaps = [" " * (width - width_of(cell)) for cell, width in zip(row, widths, strict=True)]
        cells = (
            gap + cell if at_right else cell + gap
            for cell, gap, at_right in zip(row, gaps, right, strict=True)
        )
        lines.append("  ".join(cells).rstrip())
    return lines


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(width_of, cells)) for cells in zip(*rows, strict=True)]


def _broken(
    grid: Table, rows: Sequence[Sequence[str | Text]], column: int, width: int
) -> Iterator[Sequence[str | Text]]:
    """Yield the rows with the names of a column cut, so that the table is at most so wide.

    Names get their share of the room, or what the others leave where that is more. They are kept as
    they are cut, unless the others would have too little.
    """
    cells = [[cell if isinstance(cell, str) else cell.plain for cell in row] for row in rows]
    widths = _widths([[str(each.header) for each in grid.columns], *cells])
    gaps = 2 * (len(widths) - 1)
    others = [at for at, each in enumerate(grid.columns) if at != column and not each.no_wrap]
    free = width - gaps - sum(w for at, w in enumerate(widths) if at not in (*others, column))
    share = min(WRAPPED_NAME, max(NARROWEST_NAME, free // (1 + len(others))))
    room = max(share, free - sum(widths[at] for at in others))
    names = [broken(row[column], room) for row in cells]
    widest = max(width_of(line) for name in names for line in name.split("\n"))
    grid.columns[column].no_wrap = widest + LEAST_BESIDE * len(others) <= free
    for row, name in zip(rows, names, strict=True):
        yield (*row[:column], name, *row[column + 1 :])


def words(*parts: str | tuple[str, str]) -> Text:
    """Return a paragraph of parts, each plain or with a style; nothing in it is markup."""
    text = Text(overflow="fold")
    for part in parts:
        said, style = (part, "") if isinstance(part, str) else part
        text.append(printable(said), style)
    return text


def table(columns: Iterable[str], *, right: Iterable[str] = (), whole: Iterable[str] = ()) -> Table:
    """Return an empty table without lines: `right` aligns figures, `whole` never wraps."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    right, whole = set(right), set(whole)
    for name in columns:
        grid.add_column(
            name,
            justify="right" if name in right else "left",
            no_wrap=name in whole | right,
            overflow="fold",
        )
    return grid


def _columns(terminal: bool) -> int:
    given = os.environ.get("COLUMNS", "")
    if given.isdigit() and int(given):
        return int(given)
    return os.get_terminal_size(sys.stdout.fileno()).columns if terminal else PIPED_WIDTH
