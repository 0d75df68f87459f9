"""Ranges of names: `gpu-{01..04}` is gpu-01, gpu-02, gpu-03, gpu-04."""

from __future__ import annotations

import itertools
import re

_RANGE = re.compile(r"\{([0-9]{1,9})\.\.([0-9]{1,9})\}")
_FOLDED = re.compile(r"\[([0-9]{1,9})-([0-9]{1,9})\]")
"""A range as output folds names."""
LONGEST = 100_000
"""The most names that one range may stand for."""


def holds_range(name: str) -> bool:
    """Whether a range stands in a name: of what has one name, it was meant to be many."""
    return _RANGE.search(name) is not None


def meant_range(name: str) -> str | None:
    """Return the range that a name as output folds it means: gpu-[01-04] is gpu-{01..04}."""
    return _FOLDED.sub(r"{\1..\2}", name) if _FOLDED.search(name) else None


def expand(name: str) -> tuple[str, ...]:
    """Return the names that a range stands for; a plain name stands for itself.

    Several ranges in one name give every combination. A first number with leading zeros gives
    its width to all. Raises ValueError where braces hold no range, where one runs backwards, or
    where they would give more than `LONGEST` names.
    """
    if "{" not in name and "}" not in name:
        return (name,)
    parts = _RANGE.split(name)
    if any("{" in text or "}" in text for text in parts[::3]):
        raise ValueError(f"'{name}' holds no range of names; a range is written gpu-{{01..04}}")
    choices: list[tuple[str, ...]] = []
    total = 1
    for index in range(0, len(parts) - 1, 3):
        text, first, last = parts[index : index + 3]
        if int(last) < int(first):
            raise ValueError(f"the range {{{first}..{last}}} runs backwards")
        total *= int(last) - int(first) + 1
        if total > LONGEST:
            raise ValueError(f"'{name}' stands for more than {LONGEST:,} names")
        width = len(first) if first.startswith("0") or len(first) == len(last) else 0
        choices.append((text,))
        choices.append(tuple(str(n).zfill(width) for n in range(int(first), int(last) + 1)))
    choices.append((parts[-1],))
    return tuple("".join(combination) for combination in itertools.product(*choices))
