"""A page of documentation as a story that runs: its files, its commands, and what they print.

A comment before a code block says what the block is:

- `<!-- file: NAME -->`: a file, for the commands after it;
- `<!-- output -->`: what the command before it prints, errors first, solving times aside;
- `<!-- exit: N -->`: the command ends with this code, not with 0;
- `<!-- not run: WHY -->`: it is only read.

`python docs/generate.py` writes the outputs anew, `tests/test_docs.py` fails where one differs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = tuple(
    sorted(
        [
            *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
            *(p for p in (ROOT / "docs").rglob("*.md") if p.parent.name != "reference"),
        ]
    )
)

_BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^>]*) -->\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_TAKEN = re.compile(r" *\b[\d,]+(?:\.\d+)? s\b")
_NEWCOMER = "pip install -q uv && uv run "


@dataclass(frozen=True)
class Block:
    """One code block: its language, its text, its mark, and where its text is in the page."""

    kind: str
    text: str
    mark: str
    start: int
    end: int

    def marked(self, word: str) -> str | None:
        """Return what the mark says after a word, or None where it isn't that mark."""
        if not self.mark.startswith(word):
            return None
        return self.mark.removeprefix(word).lstrip(": ")


def blocks(text: str) -> Iterator[Block]:
    """Yield the code blocks of a page."""
    for match in _BLOCK.finditer(text):
        start, end = match.span("text")
        yield Block(match["kind"], match["text"], match["mark"] or "", start, end)


def told(page: Path, folder: Path) -> str:
    """Run a page's blocks in an empty folder; return the page with the outputs that came.

    Raises AssertionError where a command ends with another code than the page says.
    """
    shutil.copytree(ROOT / "scenarios", folder / "scenarios", dirs_exist_ok=True)
    text = page.read_text(encoding="utf-8")
    outputs: list[tuple[Block, str]] = []
    last = ""
    for block in blocks(text):
        if block.marked("not run") is not None:
            continue
        if name := block.marked("file"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(block.text, encoding="utf-8")
        elif block.marked("output") is not None:
            outputs.append((block, last))
        elif block.kind in ("bash", "python"):
            last = _ran(block, folder)
    for block, output in reversed(outputs):
        if timeless(block.text) != timeless(output):
            text = text[: block.start] + output + text[block.end :]
    return text


def timeless(output: str) -> str:
    """Return an output without the seconds that solving took."""
    return _TAKEN.sub(" # s", output)


def _ran(block: Block, folder: Path) -> str:
    if block.kind == "python":
        command = [sys.executable, "-c", block.text]
    else:
        script = block.text.replace(_NEWCOMER, "").replace("uv run ", "")
        command = ["bash", "-euo", "pipefail", "-c", script]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "STOWPLAN_DEBUG")}
    done = subprocess.run(
        command,
        cwd=folder,
        env={**kept, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    expected = int(block.marked("exit") or 0)
    said = done.stderr + done.stdout
    assert done.returncode == expected, f"{block.text}\nended with {done.returncode}:\n{said}"
    return said
