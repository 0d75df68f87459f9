from __future__ import annotations

import datetime as dt
import io
import sys
from pathlib import Path

import pytest

from stowplan.adapters.catalog.reading import read_catalog
from stowplan.model.errors import InvalidInput
from tests.adapters.catalogs import A100, HEADER, SKY, sky, write


def refused(folder: Path, text: str | bytes) -> list[str]:
    """Return the errors of a file, without the folder it is in."""
    path = folder / "c.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(InvalidInput) as caught:
        read_catalog([path])
    return [str(problem).removeprefix(f"{folder}/") for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "c.csv: is empty; its first row names the columns of a catalog"),
        ("\n , \n", "c.csv: is empty; its first row names the columns of a catalog"),
        (HEADER.replace(",", ";"), "c.csv:1: is no catalog; columns are separated by commas"),
        (HEADER.replace(",", "\t"), "c.csv:1: is no catalog; columns are separated by commas"),
        (HEADER + ",gpu", "c.csv:1: the column 'gpu' is there twice"),
        (f'{HEADER}\n"aws', "c.csv:2: a quote begins in this row and never ends"),
        (f'{HEADER}\n"aws"x', "c.csv:2: is not CSV: ',' expected after '\"'"),
        (b"PAR1", "c.csv: is a Parquet file; a catalog is CSV text in UTF-8"),
        (b"a,b\n\xff", "c.csv:2: is not UTF-8: byte 0xff; save it as UTF-8"),
    ],
)
def test_a_file_that_can_not_be_read_is_refused_in_a_line(
    tmp_path: Path, text: str | bytes, said: str
) -> None:
    assert refused(tmp_path, text) == [said]


def test_a_header_of_no_catalog_names_the_columns_of_both_forms(tmp_path: Path) -> None:
    (said,) = refused(tmp_path, "# Offers\n")
    assert said.startswith("c.csv:1: is no catalog; its columns are provider, instance_type, gpu,")
    assert "or InstanceType, AcceleratorName, AcceleratorCount" in said


def test_a_header_that_is_almost_one_names_the_nearest_of_its_form(tmp_path: Path) -> None:
    header = HEADER.replace("price_hr", "price_h", 1).replace("vcpus,", "")
    assert refused(tmp_path, header) == [
        "c.csv:1: the column 'vcpus' is missing; expected in the unified form: provider, "
        "instance_type, gpu, gpu_count, gpu_mem_gib, vcpus, mem_gib, region, price_hr",
        "c.csv:1: the column 'price_hr' is missing; is it 'price_h'?",
    ]
    assert refused(tmp_path, SKY.replace("Region", "Regions")) == [
        "c.csv:1: the column 'Region' is missing; is it 'Regions'?"
    ]


def test_a_file_that_is_not_there_a_folder_and_one_given_twice_are_refused_together(
    tmp_path: Path,
) -> None:
    good = write(tmp_path, [A100])
    with pytest.raises(InvalidInput) as caught:
        read_catalog([tmp_path / "d.csv", tmp_path, good, good], defaults=tmp_path / "t.csv")
    assert [problem.message for problem in caught.value.problems] == [
        "there is no such file",
        "there is no such file",
        "is a folder, not a file",
        "is given twice",
    ]
    assert caught.value.problems[1].hint == f"did you mean '{good}'?"


def test_a_vms_csv_of_nobody_asks_for_its_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, [sky("a", "T4", 1)], SKY, "vms.csv")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match="name it with --provider"):
        read_catalog([Path("vms.csv")])


def test_a_provider_is_refused_where_files_tell_theirs(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="--provider is for SkyPilot's form"):
        read_catalog([write(tmp_path, [A100])], provider="aws")


def test_no_catalog_at_all_and_times_without_a_zone_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no catalog given"):
        read_catalog([])
    with pytest.raises(ValueError, match="need a time zone"):
        read_catalog([write(tmp_path, [A100])], as_of=dt.datetime(2026, 1, 1))


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"{HEADER}\n{A100}\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert len(read_catalog([Path("-")]).offerings) == 2
