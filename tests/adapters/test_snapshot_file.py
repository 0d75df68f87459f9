from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from stowplan.adapters.snapshot_file import load
from stowplan.model.errors import InvalidInput
from stowplan.model.snapshot import Snapshot
from tests.adapters.snapshot_files import problem, written

NOW = "2026-09-21T06:17:37Z"
SHARED = Path(__file__).parents[2].parent / "shared"
EXAMPLE = SHARED / "spec" / "example.yaml"
needs_the_example = pytest.mark.skipif(
    not EXAMPLE.is_file(), reason="the specification isn't beside this repository"
)


DOCUMENT: dict[str, Any] = {
    "now": NOW,
    "fleet": {"machines": [{"name": "gpu-{01..02}", "cpu_cores": 8}]},
    "runs": [{"name": "train", "cpu_cores": 4}, {"name": "chat"}],
}


def test_yaml_json_stdin_and_a_folder_give_the_same_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = Snapshot.read(DOCUMENT)
    (tmp_path / "folder").mkdir()
    runs = DOCUMENT["runs"]
    written(
        tmp_path / "folder",
        a__yaml=yaml.safe_dump({"now": NOW, "runs": runs[:1]}),
        b__json=json.dumps({"runs": runs[1:]}),
        c__yml=yaml.safe_dump({"fleet": DOCUMENT["fleet"]}),
        notes__txt="not read",
    )
    for text in (yaml.safe_dump(DOCUMENT), json.dumps(DOCUMENT)):
        stdin = io.TextIOWrapper(io.BytesIO(text.encode()))
        monkeypatch.setattr(sys, "stdin", stdin)
        assert load("-") == expected
    assert load(written(tmp_path, s__yaml=yaml.safe_dump(DOCUMENT))) == expected
    assert load(written(tmp_path, s__json=json.dumps(DOCUMENT))) == expected
    assert load(str(written(tmp_path, s=json.dumps(DOCUMENT)))) == expected
    assert load(tmp_path / "folder") == expected


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    assert load(written(tmp_path, s__yaml=b"\xef\xbb\xbfnow: " + NOW.encode())).runs == ()


def test_the_same_version_in_two_files_is_no_quarrel(tmp_path: Path) -> None:
    written(tmp_path, a__yaml=f"version: 1\nnow: {NOW}", b__yaml="version: 1\nruns: []")
    assert load(tmp_path).version == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x00\x01\x02\x03", "is binary"),
        (b"\x1f\x8b\x08\x00rest", "is a gzip file"),
        (b"PAR1rest", "is a Parquet file"),
        ("now: x".encode("utf-16"), "is UTF-16 text"),
        (b"now: x\nname: caf\xe9\n", "s.yaml:2: is not UTF-8: byte 0xe9; save it as UTF-8"),
        (b"", "is empty"),
        (b" \n\n", "is empty"),
    ],
)
def test_what_is_no_text_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    assert said in problem(written(tmp_path, s__yaml=content))


def test_a_file_that_is_not_there_is_told_with_the_nearest_one(tmp_path: Path) -> None:
    there = written(tmp_path, fleet__yaml="now: x")
    missing = tmp_path / "fleat.yaml"
    assert problem(missing) == f"{missing}: there is no such file; did you mean '{there}'?"


def test_a_link_to_nothing_says_where_it_leads(tmp_path: Path) -> None:
    link = tmp_path / "link.yaml"
    link.symlink_to("gone.yaml")
    assert problem(link) == f"{link}: is a link to 'gone.yaml', which isn't there"


@pytest.mark.parametrize("content", ["", "# nothing yet\n"])
def test_an_empty_file_of_a_folder_is_not_the_one_that_lacks_now(
    tmp_path: Path, content: str
) -> None:
    empty = written(tmp_path, a__yaml=content, b__yaml=f"now: {NOW}")
    assert problem(tmp_path) == f"{empty}: is empty"


def test_a_folder_without_snapshots_says_what_is_read(tmp_path: Path) -> None:
    assert problem(tmp_path).endswith("its .yaml, .yml and .json files are read")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_says_so(tmp_path: Path) -> None:
    path = written(tmp_path, s__yaml=f"now: {NOW}")
    path.chmod(0)
    assert "permission denied" in problem(path)


def test_a_table_given_as_a_snapshot_says_how_to_name_it(tmp_path: Path) -> None:
    assert "machines: {table: m.csv}" in problem(written(tmp_path, m__csv="name\na\n"))


def test_a_name_twice_in_two_files_names_both(tmp_path: Path) -> None:
    written(tmp_path, a__yaml=f"now: {NOW}\nruns: [{{name: x}}]", b__yaml="runs:\n- name: x\n")
    said = problem(tmp_path)
    assert said.startswith(f"{tmp_path}/b.yaml:2: runs[x]: the name 'x' is there twice")
    assert said.endswith(f"the first is in {tmp_path}/a.yaml:2")


@needs_the_example
def test_the_example_reports_exactly_what_is_not_supported_yet() -> None:
    with pytest.raises(InvalidInput) as caught:
        load(EXAMPLE)
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    told = [(problem.line, problem.field) for problem in caught.value.problems]
    assert [field for _, field in told] == [
        "fleet.machines[box].constraints.power_budget_w",
        "runs[chat].service",
        "policy.workspaces[vision].entitlements",
    ]
    for line, field in told:
        assert line is not None
        assert f"{(field or '').split('.')[-1]}:" in lines[line - 1]
    assert all(problem.file == str(EXAMPLE) for problem in caught.value.problems)
    assert all("not supported yet" in problem.message for problem in caught.value.problems)
