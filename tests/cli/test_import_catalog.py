from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from stowplan.cli.main import cli
from stowplan.model.fleet import Fleet
from tests.adapters.catalogs import A100, SKY, TERMS, row, sky, write


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["import", "catalog", *map(str, arguments)])


def test_yaml_and_json_are_one_document_of_a_fleet(tmp_path: Path) -> None:
    path = write(tmp_path, [A100, row(region="NO", source="'quoted': yes")])
    as_yaml, as_json = run(path), run(path, "-o", "json")
    assert as_yaml.exit_code == as_json.exit_code == 0
    document = json.loads(as_json.stdout)
    assert yaml.safe_load(as_yaml.stdout) == document
    assert len(Fleet.model_validate(document["fleet"]).offerings) == 4
    assert list(document) == ["version", "name", "now", "fleet"]


def test_what_is_left_out_goes_to_standard_error_and_the_account_closes_it(tmp_path: Path) -> None:
    path = write(tmp_path, [A100, row(price_hr="-1", spot_price_hr="")])
    result = run(path)
    assert result.exit_code == 0
    lines = result.stderr.splitlines()
    assert lines[0] == f"warning: {path}:3: price_hr: -1 is negative: left out"
    told = "2 rows: 2 offerings, 1 of them interruptible; 1 row left out, in whole or in part"
    assert lines[-1] == told
    strict = run(path, "--strict")
    assert (strict.exit_code, strict.stdout) == (2, "")
    assert f"error: {path}:3: price_hr: -1 is negative" in strict.stderr


def test_a_catalog_of_which_nothing_is_assumed_passes_strictly(tmp_path: Path) -> None:
    terms = write(tmp_path, ["aws,1,60,ready,180,600,docs"], TERMS, "t.csv")
    result = run(write(tmp_path, [row(spot_price_hr="")]), "--defaults", terms, "--strict")
    assert result.exit_code == 0
    assert result.stderr == "1 row: 1 offering\n"


def test_a_date_or_a_time_tells_when_prices_held(tmp_path: Path) -> None:
    path = write(tmp_path, [sky("a", "T4", 1)], SKY, "acme/vms.csv")
    for given, held in (
        ("2026-05-20", "2026-05-20T00:00:00Z"),
        ("2026-05-20T12:00:00+02:00", "2026-05-20T10:00:00Z"),
    ):
        document = json.loads(run(path, "--as-of", given, "-o", "json").stdout)
        assert document["fleet"]["offerings"][0]["price"]["as_of"] == held
        assert document["now"] == held
    told = run(path, "--as-of", "2026-05-20", "--now", "2026-06-01T00:00:00Z", "--provider", "x")
    document = yaml.safe_load(told.stdout)
    assert document["now"] == "2026-06-01T00:00:00Z"
    assert document["fleet"]["offerings"][0]["provider"] == "x"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "missing argument 'FILE...'"),
        (("none.csv",), "none.csv: there is no such file"),
        (("c.csv", "--as-of", "noon"), "'noon' is not a time like"),
        (("c.csv", "--as-of", "2026-13-01"), "is not a time like"),
        (("c.csv", "--defaults", "none.csv"), "none.csv: there is no such file"),
        (("c.csv", "--provider", "aws"), "--provider is for SkyPilot's form"),
        (("-",), "stdin: is empty; its first row names the columns of a catalog"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    write(tmp_path, [A100])
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
