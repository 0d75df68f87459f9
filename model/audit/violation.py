"""One way in which a decision breaks one rule."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Violation:
    """A rule that a decision breaks, where, and a sentence with the figures."""

    rule: str
    """As the rules are named everywhere: cpu, pools, array_limit ..."""
    run: str | None
    """None where it isn't one run's fault."""
    host: str | None
    message: str

    def __str__(self) -> str:
        where = " on ".join(name for name in (self.run, self.host) if name)
        return f"{self.rule}: {where}: {self.message}" if where else f"{self.rule}: {self.message}"
