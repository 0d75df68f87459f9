"""Whatever is read, the answer is a snapshot or words, never a traceback."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from stowplan.adapters.snapshot_file import load
from stowplan.model.errors import InvalidInput
from tests.adapters.snapshot_files import written

NOW = "2026-09-21T06:17:37Z"

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["gpu-{01..04}", "64GiB", NOW, "up", "x.csv"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "count", "table", "devices", "workers", "<<"])
            | st.text(max_size=3),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)
FIELDS = (
    ("now",), ("seed",), ("fleet",), ("fleet", "machines"), ("fleet", "machines", 0),
    ("fleet", "machines", 0, "devices"), ("fleet", "machines", 0, "devices", 0, "memory_mib"),
    ("fleet", "machines", 0, "labels"), ("fleet", "machines", 0, "rate_usd_per_hour"),
    ("fleet", "offerings"), ("fleet", "reservations"), ("runs",), ("runs", 0), ("runs", 0, "gpus"),
    ("runs", 0, "drives"), ("runs", 0, "placed"), ("runs", 0, "array"), ("policy", "workspaces"),
)  # fmt: skip


@settings(max_examples=300)
@given(st.sampled_from(FIELDS), VALUES, st.booleans())
def test_any_value_anywhere_is_read_or_told_with_its_line(
    tmp_path_factory: pytest.TempPathFactory,
    field: tuple[str | int, ...],
    value: Any,
    as_json: bool,
) -> None:
    document: Any = {
        "now": NOW,
        "fleet": {"machines": [{"name": "a", "devices": [{"model": "L4", "memory_mib": 1}]}]},
        "runs": [{"name": "r"}],
        "policy": {},
    }
    inner = document
    for part in field[:-1]:
        inner = inner[part]
    inner[field[-1]] = value
    text = json.dumps(document) if as_json else yaml.safe_dump(document, allow_unicode=True)
    path = tmp_path_factory.mktemp("any") / ("s.json" if as_json else "s.yaml")
    try:
        path.write_text(text, encoding="utf-8")
    except UnicodeEncodeError:
        return
    try:
        load(path)
    except InvalidInput as error:
        assert all(problem.line for problem in error.problems)
        assert str(error).isprintable() or "\n" in str(error)


@settings(max_examples=200)
@given(st.binary(max_size=40) | st.text(alphabet="ab:-{}[]&*!|>'\"%@`,#?\t\n .01", max_size=40))
def test_any_bytes_are_a_snapshot_or_told_in_words(
    tmp_path_factory: pytest.TempPathFactory, content: bytes | str
) -> None:
    folder = tmp_path_factory.mktemp("bytes")
    for name in ("s__yaml", "s__json", "s"):
        try:
            load(written(folder, **{name: content}))
        except InvalidInput as error:
            assert str(error)
