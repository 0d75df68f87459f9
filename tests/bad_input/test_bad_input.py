"""Every `*.txt` here holds small files and, last, what reading the first of them must say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stowplan.adapters.snapshot_file import load
from stowplan.model.errors import SHOWN, InvalidInput

CASES = sorted(Path(__file__).parent.glob("*.txt"))


def files_of(case: Path) -> dict[str, str]:
    parts = re.split(r"^-- (\S+) --\n", case.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_there_are_at_least_twenty_five_cases() -> None:
    assert len(CASES) >= 25


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_the_error_says_file_line_field_and_what_is_allowed(
    case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = files_of(case)
    expected = files.pop("expected")
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput) as caught:
        load(next(iter(files)).split("/")[0])  # a file, or the folder it is in
    assert f"{caught.value}\n" == expected


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_the_error_fits_a_screen_and_names_a_file_and_line(case: Path) -> None:
    lines = files_of(case)["expected"].splitlines()
    assert len(lines) <= SHOWN + 1
    whole_file = ("an-empty-file",)
    for line in lines[:SHOWN]:
        assert re.match(r"\S+:\d+: ", line) or case.stem in whole_file, line
