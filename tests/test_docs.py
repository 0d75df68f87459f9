"""The documentation is true: its pages are those the code gives, and all it shows runs."""

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from stowplan.model.snapshot import Snapshot

ROOT = Path(__file__).parent.parent


def script(name: str) -> ModuleType:
    """Return a module of docs/, which is no package."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
        assert spec
        assert spec.loader
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


stories = script("stories")
PAGES: tuple[Path, ...] = stories.PAGES


def called(page: Path) -> str:
    return str(page.relative_to(ROOT))


def test_the_reference_is_what_the_code_says_of_itself() -> None:
    made: dict[Path, str] = script("generate").pages()
    differing = [
        called(page)
        for page, text in made.items()
        if not page.exists() or page.read_text(encoding="utf-8") != text
    ]
    assert differing == [], "run: python docs/generate.py"
    assert {*(ROOT / "docs" / "reference").iterdir()} == {*made}


@pytest.mark.parametrize("page", PAGES, ids=called)
def test_what_a_page_shows_is_what_happens(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert stories.told(page, tmp_path) == text, "run: python docs/generate.py"


@pytest.mark.parametrize("page", PAGES, ids=called)
def test_a_whole_snapshot_on_a_page_can_be_read(page: Path) -> None:
    for block in stories.blocks(page.read_text(encoding="utf-8")):
        wrong = (block.marked("file") or "").startswith("wrong")  # shown for its errors
        if block.kind == "yaml" and "table:" not in block.text and not wrong:
            document = yaml.safe_load(block.text)
            if isinstance(document, dict) and {"now", "fleet"} <= document.keys():
                Snapshot.read(document)


LINK = re.compile(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=called)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_every_page_is_reached_from_the_index() -> None:
    index = ROOT / "docs" / "index.md"
    linked = {
        (index.parent / target).resolve()
        for target in LINK.findall(index.read_text(encoding="utf-8"))
    }
    pages = {path.resolve() for path in (ROOT / "docs").rglob("*.md")} - {index.resolve()}
    assert pages <= linked
