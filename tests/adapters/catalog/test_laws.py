"""What holds for every catalog: each row is accounted for, and nothing is lost in writing."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stowplan.adapters.catalog.findings import RowsFinding, spans
from stowplan.adapters.catalog.reading import Catalog, read_catalog
from stowplan.adapters.catalog.rows import SKYPILOT, UNIFIED
from stowplan.adapters.catalog.yaml import as_yaml
from stowplan.adapters.yaml_text import read_yaml
from stowplan.model.errors import InvalidInput
from stowplan.model.fleet import Fleet

in_a_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
ODD = ["", "0", "0.0", "-1", "nan", "NaN", "inf", "1e99", "x", "1,5", "0.333", "1" * 40, '"', "NO"]
CELLS: dict[str, list[str]] = {
    "provider": ["aws", "gcp", "Lambda Labs", "{a..b}"],
    "instance": ["p4d", "n1-highmem-8", "a/b", "x y"],
    "gpu": ["A100", "A100-80GB", "RTX 3070", "RTX-3070", "New1", "tpu-v4"],
    "count": ["1", "2", "8", "1.0", "16.0"],
    "gpu_memory": [
        "40",
        "80",
        "22",
        "24",
        "{'SizeInMiB': 81920}",
        "{'SizeInMiB': 8192, 'Size': 1}",
    ],
    "cores": ["4", "4.5", "96.0", "0.0001"],
    "memory": ["16", "30.5", "1152.0"],
    "region": ["us-east-1", "eastus", "Oregon, US, NA", "NO"],
    "zone": ["", "z1"],
    "price": ["1.0", "2.35", "0.000001", "0.0000001", "98.32"],
    "spot": ["0.44", "99.9"],
    "as_of": ["2024-11-03", "2026-05-20", "2026-05-20T00:00:00Z", "v8", "0001-01-01"],
    "source": ["list", "list: a 'b'", "- x", "\u2028"],
}
usual = st.sampled_from(ODD)
rows_of_cells = st.lists(
    st.fixed_dictionaries(
        {part: st.one_of(st.sampled_from(cells), st.sampled_from(cells), usual)
         for part, cells in CELLS.items()}
    ),
    max_size=12,
)  # fmt: skip


def table(form: str, rows: list[dict[str, str]]) -> str:
    columns = (UNIFIED if form == "unified" else SKYPILOT).columns
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows([row[part] for part in columns.values()] for row in rows)
    return text.getvalue()


def read(folder: Path, text: str | bytes) -> Catalog:
    path = folder / "acme.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_catalog([path])


def check(catalog: Catalog) -> None:
    """Check that each row gave an offering or is said, and that what is written is what it is."""
    told = [one for one in catalog.findings if isinstance(one, RowsFinding) and one.left_out]
    lines = {offer.row.line for offer in catalog.offers} | {n for one in told for n in one.lines}
    assert len(lines) == catalog.rows
    names = [offering.name for offering in catalog.offerings]
    assert len({*names}) == len(names)
    document = catalog.document()
    assert Fleet.model_validate(document["fleet"]).offerings == catalog.offerings
    assert json.loads(json.dumps(document)) == document
    assert read_yaml(as_yaml(document), "o.yaml") == document
    assert yaml.safe_load(as_yaml(document)) == document


@in_a_folder
@given(st.sampled_from(["unified", "skypilot"]), rows_of_cells)
def test_every_row_is_an_offering_or_a_finding(
    tmp_path: Path, form: str, rows: list[dict[str, str]]
) -> None:
    catalog = read(tmp_path, table(form, rows))
    assert catalog.rows == len(rows)
    check(catalog)


@in_a_folder
@given(st.permutations(range(4)), st.lists(st.sampled_from(CELLS["price"]), min_size=4, max_size=4))
def test_the_order_of_rows_of_different_dates_changes_nothing(
    tmp_path: Path, order: list[int], prices: list[str]
) -> None:
    usual = {part: cells[0] for part, cells in CELLS.items()}
    rows = [
        usual | {"price": price, "as_of": f"2026-01-0{day + 1}"} for day, price in enumerate(prices)
    ]
    one = read(tmp_path, table("unified", rows))
    other = read(tmp_path, table("unified", [rows[index] for index in order]))
    assert {*one.offerings} == {*other.offerings}


@in_a_folder
@given(st.sampled_from(["unified", "skypilot"]), rows_of_cells, st.data())
def test_a_damaged_catalog_is_read_or_refused_with_its_file(
    tmp_path: Path, form: str, rows: list[dict[str, str]], data: st.DataObject
) -> None:
    whole = table(form, rows).encode()
    begin = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(begin, min(len(whole), begin + 40)))
    try:
        catalog = read(tmp_path, whole[:begin] + data.draw(st.binary(max_size=12)) + whole[end:])
    except InvalidInput as invalid:
        assert all(problem.file for problem in invalid.problems)
    else:
        check(catalog)


@given(st.sets(st.integers(1, 60), min_size=1))
def test_spans_tell_every_line_where_they_are_not_cut(lines: set[int]) -> None:
    text = spans(sorted(lines))
    parts = [part.split("-") for part in text.split(" and ")[0].split(", ")]
    told = {n for part in parts for n in range(int(part[0]), int(part[-1]) + 1)}
    more = int(text.split(" and ")[1].split()[0]) if " and " in text else 0
    assert told <= lines
    assert len(told) + more == len(lines)
