"""Small pieces of text: names made safe to print, lists of names folded, figures in words."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

_NUMBERED = re.compile(r"^(.*?)([0-9]+)([^0-9]*)$", re.DOTALL)
_PIECE = re.compile(r"(?:[^/,]|,(?! ))*(?:/|, |$)")
_PART = re.compile(r"[^-_.]*(?:[-_.]|$)")
_MOST_PIECES = 60
"""More pieces than fit on any line: the rest is counted, not written."""


def printable(text: str) -> str:
    r"""Return the text with every character that a terminal would act on made visible.

    Escapes, controls and marks that turn the direction of writing become `\x1b` and the like.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def counted(number: int, noun: str) -> str:
    """Return a number and what it counts: "1 machine", "12 machines"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def folded(names: Iterable[str], room: int = 44) -> str:
    """Return names in about `room` characters: `gpu-[01-04], login`, then `+3 more`.

    At least one name is always written, however long it is.
    """
    given = list(dict.fromkeys(names))
    pieces = _pieces(given)
    best = len(pieces) if len(pieces) <= _MOST_PIECES else _MOST_PIECES
    for size in range(best, 0, -1):
        shown = pieces[:size]
        left = len(given) - sum(count for _, _, _, count in shown)
        text = _joined(shown) + (f", +{left:,} more" if left else "")
        if len(text) <= room or size == 1:
            return printable(text)
    return ""


def broken(names: str, room: int) -> str:
    """Return names in lines of at most `room` characters, cut after a slash or between names.

    A longer part is cut after a hyphen, underscore or dot; without one it stays whole.
    """
    lines = [""]
    parts = (
        _PART.findall(piece) if len(piece) > room else [piece] for piece in _PIECE.findall(names)
    )
    for piece in itertools.chain.from_iterable(parts):
        if piece and lines[-1] and len(lines[-1]) + len(piece.rstrip()) > room:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def ranged(numbers: Iterable[int]) -> str:
    """Return whole numbers with runs of them folded: "0-3,6"."""
    return ",".join(text for text, _ in _ranges([str(number) for number in sorted(set(numbers))]))


def share(value: float) -> str:
    """Return a share as a percentage with two telling digits: "0.08 %", "3 %"."""
    percent = 100 * value
    if percent == 0:
        return "0 %"
    if percent >= 10:
        return f"{percent:.0f} %"
    return f"{percent:.2g} %" if percent >= 0.001 else "under 0.001 %"


def seconds(value: float) -> str:
    """Return a time in seconds with two telling digits: "0.04 s", "12 s"."""
    return (
        f"{value:,.0f} s" if value >= 10 else f"{value:.1f} s" if value >= 1 else f"{value:.2f} s"
    )


def _pieces(names: Sequence[str]) -> list[tuple[str, str, str, int]]:
    """Cut names into (before the number, numbers, after it, how many), in order of first sight."""
    groups: dict[tuple[str, str, int], list[str]] = {}
    for name in names:
        match = _NUMBERED.match(name)
        before, digits, after = match.groups() if match else (name, "", "")
        groups.setdefault((before, after, len(digits)), []).append(digits)
    return [
        (before, text, after, count)
        for (before, after, _), digits in groups.items()
        for text, count in (_ranges(sorted(digits)) if digits[0] else [("", 1)])
    ]


def _ranges(digits: Sequence[str]) -> list[tuple[str, int]]:
    """Fold numbers, sorted, into ranges with how many each holds."""
    ranges: list[tuple[str, int]] = []
    in_a_row = itertools.groupby(enumerate(digits), lambda pair: int(pair[1]) - pair[0])
    for _, members in in_a_row:
        row = [text for _, text in members]
        ranges.append((row[0] if len(row) == 1 else f"{row[0]}-{row[-1]}", len(row)))
    return ranges


def _joined(pieces: Sequence[tuple[str, str, str, int]]) -> str:
    texts = []
    for (before, after), members in itertools.groupby(pieces, lambda piece: (piece[0], piece[2])):
        group = list(members)
        numbers = ",".join(text for _, text, _, _ in group)
        alone = sum(count for *_, count in group) == 1
        texts.append(f"{before}{numbers}{after}" if alone else f"{before}[{numbers}]{after}")
    return ", ".join(texts)
