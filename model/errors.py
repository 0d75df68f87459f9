"""What is wrong with an input, said so that its writer can mend it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

SHOWN = 20
"""The most problems that one message lists; the rest is counted."""


class Item(str):
    """An item of a list, by its name; in a file it may stand in a range of names."""


class Again(Item):
    """The second item of this name in its list."""


type Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Problem:
    """One thing wrong: where it stands, what it is, what would be right."""

    path: Path
    """Field names, list indices and items from the root: ("runs", Item("a"), "gpus", "count")."""
    message: str
    hint: str | None = None
    """What is allowed, or the nearest right name."""
    file: str | None = None
    line: int | None = None
    field: str | None = None
    """How the place is shown; made from the path where it isn't given."""

    def at(self, file: str | None, line: int | None, field: str) -> Problem:
        """Return the same problem with its place."""
        return replace(self, file=file, line=line, field=field)

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        where = ": ".join(part for part in (place, self.field or dotted(self.path)) if part)
        told = f"{where}: {self.message}" if where else self.message
        return _printable(f"{told}; {self.hint}" if self.hint else told)


def _printable(text: str) -> str:
    """Return a text in one line, with escapes for what a terminal would act on or refuse."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


class InvalidInput(ValueError):
    """An input that can't be read; `problems` says why, in the order of the input."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        lines = [str(problem) for problem in self.problems[:SHOWN]]
        if len(self.problems) > SHOWN:
            lines.append(f"... and {len(self.problems) - SHOWN:,} more")
        super().__init__("\n".join(lines))


class InternalError(RuntimeError):
    """A mistake of ours: an invalid model, or a decision that its audit refuses."""


def dotted(path: Path) -> str:
    """Return a path as it is written: `runs[3].gpus.count`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int | Item) else f".{part}" if text else str(part)
    return text
