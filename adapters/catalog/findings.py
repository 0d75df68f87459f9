"""What a catalog's rows don't say, say oddly, or can't be read for: alike ones are told once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stowplan.adapters.findings import Finding

_LONGEST = 60
"""Characters of line numbers that one finding lists; the rest is counted."""


@dataclass(frozen=True)
class RowsFinding(Finding):
    """What holds for one row or more of a file, in the words of the first of them."""

    lines: tuple[int, ...]
    """Where the rows begin."""
    left_out: bool
    """Whether a price, or the whole row, is left out for it."""


class Tally:
    """Findings as they come, those of one file, column and kind together."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str, str, bool], tuple[str, list[int]]] = {}
        self._plain: list[Finding] = []

    def leave_out(self, file: str, line: int, column: str, kind: str, message: str) -> None:
        """Say why a row, or one of its prices, is left out."""
        self._add(file, line, column, kind, f"{message}: left out", left_out=True)

    def assume(self, file: str, line: int, column: str, kind: str, message: str) -> None:
        """Say what was assumed about a row that stays."""
        self._add(file, line, column, kind, message, left_out=False)

    def say(self, file: str | None, line: int | None, path: str, message: str) -> None:
        """Say what holds for no row in particular."""
        self._plain.append(Finding(file, line, path, message))

    def _add(
        self, file: str, line: int, column: str, kind: str, message: str, *, left_out: bool
    ) -> None:
        first = self._groups.setdefault((file, column, kind, left_out), (message, []))
        first[1].append(line)

    def findings(self) -> Iterator[Finding]:
        """Yield a finding for each group, what is left out first, then those of no row."""
        groups = sorted(self._groups.items(), key=lambda group: not group[0][3])  # stable
        for (file, column, _, left_out), (message, told) in groups:
            lines = sorted({*told})
            if len(lines) > 1:
                message = f"{message} ({len(lines):,} rows: lines {spans(lines)})"
            yield RowsFinding(file, told[0], column, message, tuple(lines), left_out)
        yield from self._plain


def spans(lines: Sequence[int]) -> str:
    """Return sorted line numbers with neighbours joined: `4-9, 12`; a long list is cut."""
    joined: list[list[int]] = []
    for line in lines:
        if joined and line == joined[-1][1] + 1:
            joined[-1][1] = line
        else:
            joined.append([line, line])
    text = ""
    for told, (first, last) in enumerate(joined):
        part = str(first) if first == last else f"{first}-{last}"
        if len(text) + len(part) > _LONGEST:
            more = sum(b - a + 1 for a, b in joined[told:])
            return f"{text} and {more:,} more"
        text = f"{text}, {part}" if text else part
    return text
