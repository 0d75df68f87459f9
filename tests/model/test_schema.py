from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from stowplan.adapters.yaml_text import read_yaml
from stowplan.model.schema import json_schema
from stowplan.model.snapshot import Snapshot
from tests.strategies import snapshots

NOW = "2026-09-21T06:17:37Z"
EXAMPLE = Path(__file__).parents[2].parent / "shared/spec/example.yaml"
SCHEMA = json_schema()
VALIDATOR = Draft202012Validator(SCHEMA)


def wrong(document: Any) -> list[str]:
    return [error.json_path for error in VALIDATOR.iter_errors(document)]


def test_the_schema_is_a_schema_and_plain_json() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA


@pytest.mark.skipif(not EXAMPLE.is_file(), reason="the specification isn't beside this repository")
def test_the_example_of_the_specification_is_accepted() -> None:
    assert wrong(read_yaml(EXAMPLE.read_text(encoding="utf-8"), "example.yaml")) == []


@given(snapshots())
def test_every_snapshot_that_can_be_read_is_accepted(whole: Snapshot) -> None:
    assert wrong(json.loads(whole.model_dump_json(by_alias=True))) == []


def test_every_list_may_be_a_table() -> None:
    tables = """
now: 2026-09-21T06:17:37Z
fleet:
  machines:
    - name: a
      devices: {table: devices.csv}
      rdma: {table: rdma.parquet}
      capabilities: {table: c.csv}
  offerings: {table: o.csv}
  drives: {table: d.csv}
  reservations: {table: r.csv}
runs: {table: runs.csv}
policy: {workspaces: {table: w.csv}, budgets: {table: b.csv}}
knowledge: {cards: {table: cards.csv}, measurements: {table: m.parquet}}
"""
    assert wrong(read_yaml(tables, "tables.yaml")) == []
    assert wrong({"now": NOW, "runs": {"table": "runs.txt"}}) == ["$.runs"]
    assert wrong({"now": NOW, "runs": {"table": "runs.csv", "more": 1}}) == ["$.runs"]


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"now": 5},
        {"now": NOW, "fleat": {}},
        {"now": NOW, "runs": [{"name": "r", "state": "waiting"}]},
        {"now": NOW, "runs": [{"name": "r", "drives": [5]}]},
        {"now": NOW, "fleet": {"machines": [{"name": "m", "devices": {"count": -1}}]}},
        {"now": NOW, "fleet": {"machines": [{"name": "m", "cpu_cores": "8"}]}},
    ],
)
def test_what_reading_refuses_the_schema_refuses(document: Any) -> None:
    assert wrong(document)


def test_every_kind_of_thing_has_a_title_and_a_description() -> None:
    for name, part in SCHEMA["$defs"].items():
        assert part["title"], name
        assert part["description"].strip(), name
