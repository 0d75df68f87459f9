from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.adapters import nvidia_smi_report
from stowplan.adapters.nvidia_smi import read_nvidia_smi
from stowplan.model.errors import InvalidInput, Problem
from stowplan.model.snapshot import Snapshot
from tests.adapters.smi_reads import cards, dtds, found, in_a_folder, read_text
from tests.adapters.smi_xml import (
    Card,
    Dtd,
    report,
    write,
)


def refused(folder: Path, text: str | bytes) -> Problem:
    with pytest.raises(InvalidInput) as caught:
        read_text(folder, text)
    (problem,) = caught.value.problems
    assert problem.file == str(folder / "gpu-01.xml")
    return problem


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, " \n").message == "is empty"


def test_text_that_is_not_xml_is_refused_with_its_beginning(tmp_path: Path) -> None:
    problem = refused(tmp_path, "NVIDIA-SMI has failed because it couldn't communicate\n")
    assert "it begins 'NVIDIA-SMI has failed because" in problem.message


@pytest.mark.parametrize(
    "text", ["<!DOCTYPE html>\n<html><br></html>", '\n<html lang="en"><body/></html>']
)
def test_a_web_page_is_refused_by_its_root(tmp_path: Path, text: str) -> None:
    problem = refused(tmp_path, text)
    assert problem.message == "is <html>, not <nvidia_smi_log>"
    assert problem.line == 2


def test_a_truncated_report_is_refused_with_its_last_line(tmp_path: Path) -> None:
    whole = report([Card()])
    problem = refused(tmp_path, whole[: len(whole) // 2].rpartition("\n")[0])
    assert "isn't well-formed XML: no element found" in problem.message
    assert problem.line == whole[: len(whole) // 2].count("\n")


def test_a_loop_of_reports_is_refused_with_a_hint(tmp_path: Path) -> None:
    problem = refused(tmp_path, report([Card()]).split("\n", 2)[2] * 2)
    assert problem.hint is not None
    assert "one report a file" in problem.hint


@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY a "aaaa">',
        '<!ENTITY a "aa"><!ENTITY b "&a;&a;&a;"><!ENTITY c "&b;&b;&b;">',
        '<!ENTITY a SYSTEM "file:///etc/hostname">',
        '<!ENTITY % a SYSTEM "http://127.0.0.1/a.dtd"> %a;',
    ],
)
def test_a_declared_entity_is_refused(tmp_path: Path, declaration: str) -> None:
    text = f"<!DOCTYPE nvidia_smi_log [\n{declaration}]>\n<nvidia_smi_log>&a;</nvidia_smi_log>"
    problem = refused(tmp_path, text)
    assert problem.message == "the entity 'a' isn't allowed"
    assert problem.line == 2


def test_an_entity_from_elsewhere_is_refused(tmp_path: Path) -> None:
    text = '<!DOCTYPE nvidia_smi_log SYSTEM "x.dtd">\n<nvidia_smi_log>&a;</nvidia_smi_log>'
    assert refused(tmp_path, text).message == "the entity 'a' isn't allowed"


def test_a_document_type_written_into_the_report_is_read(tmp_path: Path) -> None:
    text = "<!DOCTYPE nvidia_smi_log [<!ELEMENT gpu EMPTY>]><nvidia_smi_log><gpu/></nvidia_smi_log>"
    assert len(read_text(tmp_path, text).machines[0].devices) == 1


def test_a_report_past_the_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nvidia_smi_report, "LARGEST_BYTES", 2**20)
    assert refused(tmp_path, report([Card()]) + " " * 2**20).message == "is larger than 1 MiB"


def test_a_report_nested_without_end_is_refused(tmp_path: Path) -> None:
    deep = "<nvidia_smi_log>" + "<a>" * 100_000
    assert "nested more than" in refused(tmp_path, deep).message


def test_a_report_of_more_gpus_than_a_host_can_have_is_refused(tmp_path: Path) -> None:
    many = f"<nvidia_smi_log>{'<gpu/>' * 1025}</nvidia_smi_log>"
    assert "has 1025 GPUs" in refused(tmp_path, many).message


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_report_saved_by_windows_is_read(tmp_path: Path, encoding: str) -> None:
    imported = read_text(tmp_path, report([Card()]).encode(encoding))
    assert imported.machines[0].devices[0].health == "healthy"


@pytest.mark.parametrize("encoding", ["klingon", "shift_jis", "hex"])
def test_an_encoding_that_cannot_be_read_is_refused(tmp_path: Path, encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?><nvidia_smi_log/>'
    assert "can't be decoded" in refused(tmp_path, text).message


def test_a_file_that_is_not_there_and_a_folder_are_refused_together(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_nvidia_smi([tmp_path / "none.xml", tmp_path])
    assert [problem.message for problem in caught.value.problems] == [
        "can't be read: No such file or directory",
        "can't be read: Is a directory",
    ]


def test_two_reports_of_one_host_are_refused_and_both_named(tmp_path: Path) -> None:
    for folder in ("monday", "tuesday"):
        (tmp_path / folder).mkdir()
    paths = [write(tmp_path / folder, "gpu-01", [Card()]) for folder in ("monday", "tuesday")]
    with pytest.raises(InvalidInput) as caught:
        read_nvidia_smi(paths)
    assert all(str(path) in str(caught.value) for path in paths)


@pytest.mark.parametrize("stem", ["gpu-{1..4}", "gpu-{4..1}", "a\nb"])
def test_a_name_that_no_host_can_have_is_refused(tmp_path: Path, stem: str) -> None:
    with pytest.raises(InvalidInput, match="can't be a host's name"):
        read_nvidia_smi([write(tmp_path, stem, [Card()])])


def test_no_report_at_all_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no report given"):
        read_nvidia_smi([])


def test_a_figure_that_the_snapshot_refuses_is_refused_with_its_file(tmp_path: Path) -> None:
    problem = refused(tmp_path, report([Card(model="x" * 300)]))
    assert problem.path == ("model",)
    path = write(tmp_path, "gpu-01", [Card()])
    with pytest.raises(InvalidInput, match="memory_bytes"):
        read_nvidia_smi([path], memory_bytes=-1)


def test_standard_input_is_read_and_its_name_said(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(report([Card()]).encode()))
    monkeypatch.setattr(sys, "stdin", stream)
    imported = read_nvidia_smi([Path("-")])
    assert imported.machines[0].name == "stdin"
    assert any("named 'stdin'" in message for message in found(imported, ""))


@in_a_folder
@given(cards, dtds, st.data())
def test_a_damaged_report_is_read_or_refused_with_its_file(
    tmp_path: Path, card: Card, dtd: Dtd, data: st.DataObject
) -> None:
    whole = report([card, Card(uuid="GPU-2")], dtd).encode()
    begin = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(begin, min(len(whole), begin + 40)))
    text = whole[:begin] + data.draw(st.binary(max_size=12)) + whole[end:]
    try:
        imported = read_text(tmp_path, text)
    except InvalidInput as invalid:
        assert all(problem.file for problem in invalid.problems)
    else:
        assert Snapshot.read(imported.document()).fleet.machines == imported.machines
