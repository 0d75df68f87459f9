from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from stowplan.adapters.findings import Imported
from stowplan.adapters.nvidia_smi import read_nvidia_smi
from tests.adapters.smi_reads import found, read, read_text
from tests.adapters.smi_xml import Card, report, write


def at(folder: Path, timestamp: str | None) -> Imported:
    return read_text(folder, report([Card()], timestamp=timestamp))


@pytest.mark.parametrize("written", ["Tue Aug  4 11:44:30 2026", "Tue Aug 4 11:44:30 2026"])
def test_local_time_is_taken_as_utc_and_said(tmp_path: Path, written: str) -> None:
    imported = at(tmp_path, written)
    assert imported.now == datetime(2026, 8, 4, 11, 44, 30, tzinfo=UTC)
    assert imported.machines[0].reported_at == imported.now
    (finding,) = [finding for finding in imported.findings if finding.path == "timestamp"]
    assert "local time of an unnamed zone, taken as UTC" in finding.message
    assert finding.line == 4


def test_a_zone_given_or_written_is_used(tmp_path: Path) -> None:
    path = write(tmp_path, "gpu-01", [Card()])
    imported = read_nvidia_smi([path], zone=timezone(timedelta(hours=2)))
    assert imported.now == datetime(2026, 8, 21, 6, 54, 1, tzinfo=UTC)
    assert not found(imported, "timestamp")
    assert at(tmp_path, "2026-08-21T08:54:01+02:00").now == imported.now


@pytest.mark.parametrize(
    "written",
    [
        None,
        "",
        "N/A",
        "Fri Foo 21 08:54:01 2026",
        "Fri Feb 31 08:54:01 2026",
        "0001-01-01T00:00+23:00",
    ],
)
def test_a_time_that_cannot_be_told_is_now(tmp_path: Path, written: str | None) -> None:
    path = tmp_path / "gpu-01.xml"
    path.write_text(report([Card()], timestamp=written))
    noon = datetime(2026, 9, 1, 12, tzinfo=UTC)
    imported = read_nvidia_smi([path], now=noon)
    assert (imported.now, imported.machines[0].reported_at) == (noon, None)
    assert "taken as reported at `now`" in found(imported, "timestamp")[0]
    assert found(read_nvidia_smi([path]), "now") == ["no report tells a time: the clock's is taken"]


def test_now_is_the_latest_report_and_older_ones_are_called_stale(tmp_path: Path) -> None:
    old, new = tmp_path / "old.xml", tmp_path / "new.xml"
    old.write_text(report([Card(uuid="GPU-1")], timestamp="Fri Aug 21 08:00:00 2026"))
    new.write_text(report([Card(uuid="GPU-2")], timestamp="Fri Aug 21 08:30:00 2026"))
    imported = read_nvidia_smi([old, new])
    assert imported.now == datetime(2026, 8, 21, 8, 30, tzinfo=UTC)
    stale = [finding for finding in imported.findings if "older than `now`" in finding.message]
    assert [finding.file for finding in stale] == [str(old)]


def test_a_report_later_than_now_is_said(tmp_path: Path) -> None:
    path = write(tmp_path, "gpu-01", [Card()])
    imported = read_nvidia_smi([path], now=datetime(2026, 8, 21, 6, 54, 1, tzinfo=UTC))
    assert "2:00:00 later than `now`: is its clock in another zone?" in found(imported, "timestamp")


def test_now_without_a_zone_is_a_mistake_of_the_caller(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="time zone"):
        read_nvidia_smi([write(tmp_path, "gpu-01", [Card()])], now=datetime(2026, 8, 21))


def test_cores_and_memory_are_said_to_be_missing_unless_given(tmp_path: Path) -> None:
    path = write(tmp_path, "gpu-01", [Card()])
    (machine,) = (imported := read_nvidia_smi([path])).machines
    assert (machine.cpu_cores, machine.memory_bytes) == (0, 0)
    assert "cpu_cores and memory_bytes, taken as 0" in found(imported, "")[0]
    imported = read_nvidia_smi([path], cpu_cores=96, memory_bytes=2**40)
    (machine,) = imported.machines
    assert (machine.cpu_cores, machine.memory_bytes) == (96, 2**40)
    assert not found(imported, "")


def test_with_all_given_a_clean_report_has_no_findings(tmp_path: Path) -> None:
    path = write(tmp_path, "gpu-01", [Card()])
    assert read_nvidia_smi([path], zone=UTC, cpu_cores=1, memory_bytes=1).findings == ()


def test_gpus_that_are_attached_and_not_there_are_said(tmp_path: Path) -> None:
    imported = read_text(tmp_path, report([Card()], attached=4))
    assert "says 4 and 1 are there" in found(imported, "attached_gpus")[0]


def test_a_finding_has_its_place_and_can_be_an_error(tmp_path: Path) -> None:
    imported = read(tmp_path, Card(uuid="N/A"))
    (finding,) = [finding for finding in imported.findings if finding.path == "gpu[0].uuid"]
    lines = (tmp_path / "gpu-01.xml").read_text().splitlines()
    assert finding.line is not None
    assert "<uuid>" in lines[finding.line - 1]
    assert str(finding) == (
        f"{tmp_path / 'gpu-01.xml'}:{finding.line}: gpu[0].uuid: no UUID is reported; its id is "
        "gpu-01/0"
    )
    assert str(finding.problem()) == str(finding)
