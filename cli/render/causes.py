"""Runs that fare alike for one cause: those of one sentence, or of one but for its figures."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from stowplan.model.decision import RefusedRun, StayingRun, WaitingRun
from stowplan.model.reasons import Reason

_FIGURE = re.compile(r"\d[\d,.]*")

type Told = WaitingRun | StayingRun | RefusedRun


@dataclass(frozen=True)
class Cause:
    """Runs, and the reason that all of them have; at least one run."""

    runs: Sequence[Told]

    @property
    def reason(self) -> Reason:
        """That of the first."""
        return self.runs[0].reason

    @property
    def message(self) -> str:
        """The sentence of all of them, or the first one's as an example."""
        first = self.runs[0]
        alike = all(run.reason.message == self.reason.message for run in self.runs)
        return self.reason.message if alike else f"e.g. {first.run}: {self.reason.message}"


def causes(runs: Iterable[Told], most: int) -> list[Cause]:
    """Return runs by their reason; past so many, reasons that differ in figures only are one."""
    told = list(runs)
    exact = _by(told, lambda reason: (reason.code, reason.message))
    return exact if len(exact) <= most else _by(told, _outline)


def _by(runs: Iterable[Told], key_of: Callable[[Reason], Hashable]) -> list[Cause]:
    groups: dict[Hashable, list[Told]] = {}
    for run in runs:
        groups.setdefault(key_of(run.reason), []).append(run)
    return [Cause(members) for members in groups.values()]


def _outline(reason: Reason) -> Hashable:
    """Return what a reason says but for its figures and for the names that are among them."""
    text = reason.message
    for value in reason.numbers.values():
        names = (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ()
        for name in names:
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "0", text)
    return (reason.code, _FIGURE.sub("", text))
