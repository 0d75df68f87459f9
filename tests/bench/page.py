"""The tables in docs/benchmarks.md, between two marks."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import textwrap
from importlib.metadata import version
from pathlib import Path

from tests.bench.report import WIDTH

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
BEGIN = "<!-- tables: made by python -m tests.bench --markdown; don't edit -->"
END = "<!-- end of tables -->"


def refreshed(page: str, tables: str, limit: float) -> str:
    """Return the page with these tables in place of its own."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page lacks its marks, {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n\n{_machine(limit)}\n\n{tables}\n{END}{after}"


def _machine(limit: float) -> str:
    line = (
        f"Stowplan at {_commit()}, with a limit of {limit:g} s, on {os.cpu_count()} cores "
        f"({_processor()}); Python {platform.python_version()}, OR-Tools {version('ortools')}, "
        f"HiGHS {version('highspy')}."
    )
    return textwrap.fill(line, WIDTH)


def _commit() -> str:
    """Return the commit that is checked out."""
    command = ["git", "-C", str(PAGE.parent), "describe", "--always", "--dirty"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _processor() -> str:
    """Return the processor's name where the system tells it."""
    told = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.*)", told.read_text()) if told.exists() else None
    return found[1] if found else platform.machine()
