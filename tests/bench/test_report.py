"""The command, its tables, and the page that shows them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import tests.bench.__main__ as command
from tests.bench import catalogue
from tests.bench.__main__ import main
from tests.bench.measure import Measured
from tests.bench.page import BEGIN, END, refreshed
from tests.bench.report import told, write_csv

RUN = [
    Measured(
        "racks-small",
        seed,
        policy,
        machines=100,
        weight=weight,
        by_priority=(weight,),
        seconds=seconds,
        peak_mib=80,
    )
    for seed, policy, weight, seconds in (
        (1, "stowplan", 110.0, 1.0),
        (1, "first-fit", 100.0, 0.5),
        (2, "stowplan", 126.0, 3.0),
        (2, "first-fit", 120.0, 0.5),
    )
]


def test_a_table_gives_the_median_and_the_worst() -> None:
    table = told(RUN, markdown=True)
    assert "| stowplan | 118 (110) | 1.000 |  |  | 2.00 (3.00) |  | 80 |  |" in table
    assert "| first-fit | 110 (100) | 1.075 (1.050) |  |  | 0.50 |  | 80 |  |" in table


def test_the_csv_holds_every_measurement_with_its_ratio(tmp_path: Path) -> None:
    write_csv(tmp_path / "run.csv", RUN)
    with (tmp_path / "run.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["ratio"] for row in rows] == ["1.0", "1.1", "1.0", "1.05"]


def test_a_page_keeps_all_but_its_tables() -> None:
    page = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    made = refreshed(page, "new\n", 30)
    assert made.startswith(f"before\n{BEGIN}\n")
    assert made.endswith(f"new\n\n{END}\nafter\n")
    assert "old" not in made


def test_the_command_measures_and_names_what_it_does_not_know(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["racks-small", "--policies", "first-fit"])
    assert "first-fit" in capsys.readouterr().out.splitlines()[-1]
    with pytest.raises(SystemExit):
        main(["racks-small", "--policies", "last-fit"])
    assert "no such thing as last-fit" in capsys.readouterr().err


def test_a_measurement_that_fails_makes_the_command_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = Measured("racks-small", 1, "first-fit", status="FAILED: KeyError")
    monkeypatch.setattr(command, "measured", lambda *_: failed)
    with pytest.raises(SystemExit) as ended:
        main(["racks-small", "--policies", "first-fit"])
    assert ended.value.code == 1
    assert "1 of 1 measurements failed" in capsys.readouterr().err


def test_an_instance_whose_trace_is_not_here_is_left_out_in_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(catalogue, "ROOT", tmp_path / "clone")
    main(["openb-small"])
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "openb-small: left out, the trace isn't here (../shared/data/openb)\n"


def test_the_command_says_what_it_measures(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert "racks-1250: 40 racks, 8 fabrics, 58 % in use" in " ".join(
        capsys.readouterr().out.split()
    )
