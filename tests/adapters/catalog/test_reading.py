from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path

import pytest

from stowplan.adapters.catalog.reading import read_catalog
from stowplan.model.fleet import Accelerator, Fleet, Offering, Price
from tests.adapters.catalogs import (
    A100,
    HEADER,
    of_rows,
    only,
    out,
    read,
    row,
    write,
)


def test_a_row_with_a_spot_price_is_two_offerings_with_all_it_tells(tmp_path: Path) -> None:
    catalog = read(tmp_path, A100)
    on_demand = Offering(
        name="aws/us-east-1/use1-az1/p4d.24xlarge/8xA100",
        provider="aws",
        region="us-east-1",
        region_class="us",
        location="use1-az1",
        accelerator=Accelerator(
            model="A100", family="ampere", vendor="nvidia", memory_gb=40, count=8
        ),
        cpu_cores=96,
        memory_bytes=1152 * 2**30,
        rate_usd_per_hour=Decimal("32.77"),
        price=Price(as_of=dt.datetime(2026, 9, 20, tzinfo=dt.UTC), source="list"),
    )
    changes = {
        "name": f"{on_demand.name}-spot",
        "rate_usd_per_hour": Decimal("9.83"),
        "interruptible": True,
    }
    assert catalog.offerings == (on_demand, on_demand.model_copy(update=changes))
    assert catalog.now == dt.datetime(2026, 9, 20, tzinfo=dt.UTC)
    assert (catalog.rows, catalog.rows_left_out) == (1, 0)


def test_the_document_holds_the_offerings_and_nothing_that_is_not_known(tmp_path: Path) -> None:
    catalog = read(tmp_path, row(zone="", gpu="New9000", vcpus="", spot_price_hr="", as_of=""))
    document = catalog.document()
    assert document["fleet"]["offerings"] == [
        {
            "name": "aws/us-east-1/p4d.24xlarge/8xNew9000",
            "provider": "aws",
            "region": "us-east-1",
            "region_class": "us",
            "accelerator": {"model": "New9000", "memory_gb": 40, "count": 8},
            "memory_bytes": 1152 * 2**30,
            "rate_usd_per_hour": 32.77,
            "price": {"source": "list"},
        }
    ]
    assert Fleet.model_validate(document["fleet"]).offerings == catalog.offerings
    assert of_rows(catalog, "gpu") == ["'New9000' isn't known: without family and vendor"]
    assert of_rows(catalog, "vcpus") == ["isn't told: taken as 0"]
    assert of_rows(catalog, "as_of") == ["when the prices held isn't told: see --as-of"]


@pytest.mark.parametrize(
    ("written", "price"),
    [
        ("32.7726", "32.7726"),
        ("0.1", "0.1"),
        ("2.0", "2"),
        ("0.30000000000000004", "0.3"),
        ("1.0000005", "1.000001"),
        ("1e1", "10"),
    ],
)
def test_a_price_is_the_decimal_that_is_written_to_a_millionth(
    tmp_path: Path, written: str, price: str
) -> None:
    catalog = read(tmp_path, row(price_hr=written, spot_price_hr=""))
    assert only(catalog).rate_usd_per_hour == Decimal(price)
    assert f'"rate_usd_per_hour": {price},' in json.dumps(catalog.document())


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"price_hr": "NaN"}, "price_hr: 'NaN' is not a number: left out"),
        ({"price_hr": "-1"}, "price_hr: -1 is negative: left out"),
        ({"price_hr": "$3"}, "price_hr: '$3' is not a number: left out"),
        ({"price_hr": "inf"}, "price_hr: 'inf' is not a number: left out"),
        ({"price_hr": "1e15"}, "price_hr: 1e15 is too large: left out"),
        ({"price_hr": "0.0"}, "price_hr: a price of 0 is none: left out"),
        ({"price_hr": ""}, "price_hr: there is no price: left out"),
        ({"price_hr": "", "spot_price_hr": "0"}, "price_hr: there is no price: left out"),
        ({"gpu_count": "x"}, "gpu_count: 'x' is not a number: left out"),
        ({"gpu_count": ""}, "gpu_count: how many A100 isn't told: left out"),
        ({"gpu_count": "0.5"}, "gpu_count: 0.5 A100 is no whole GPU, and only whole ones"),
        ({"gpu_count": "0"}, "gpu_count: 0 A100 is no whole GPU"),
        ({"gpu": ""}, "gpu: is empty, and there are 8 of it: left out"),
        ({"gpu": "tpu-v4-8"}, "gpu: 'tpu-v4-8' is no GPU: left out"),
        ({"gpu_mem_gib": ""}, "gpu_mem_gib: the memory of A100 isn't told: left out"),
        ({"gpu_mem_gib": "0"}, "gpu_mem_gib: is 0: left out"),
        ({"mem_gib": "-4"}, "mem_gib: -4 is negative: left out"),
        ({"vcpus": "0.0001"}, "cpu_cores: 0.0001 has more than three decimals"),
        ({"provider": ""}, "provider: is empty: left out"),
        ({"region": " "}, "region: is empty: left out"),
        ({"source": "a,b"}, "cells: 14 in this row, 13 in the header: left out"),
    ],
)
def test_what_can_not_be_read_is_left_out_and_said(
    tmp_path: Path, cells: dict[str, str], said: str
) -> None:
    catalog = read(tmp_path, row(**{"spot_price_hr": "", **cells}), row(region="eu-west-1"))
    assert [one.region for one in catalog.offerings] == ["eu-west-1"] * 2
    (why,) = out(catalog)
    assert why.startswith("2: ")
    assert said in why
    assert catalog.rows_left_out == 1


def test_one_bad_price_leaves_the_other(tmp_path: Path) -> None:
    assert only(read(tmp_path, row(price_hr="?"))).interruptible
    assert only(read(tmp_path, row(price_hr=""))).interruptible
    assert not only(read(tmp_path, row(spot_price_hr="-2"))).interruptible
    free = read(tmp_path, row(spot_price_hr="0.00"))
    assert not only(free).interruptible
    assert of_rows(free, "spot_price_hr") == ["a price of 0 is none: never interruptible"]


def test_spot_that_is_dearer_is_kept_and_said(tmp_path: Path) -> None:
    catalog = read(tmp_path, row(spot_price_hr="32.78"))
    assert len(catalog.offerings) == 2
    assert of_rows(catalog, "spot_price_hr") == [
        "32.78 interruptible is dearer than 32.77 on demand"
    ]


def test_rows_alike_are_one_finding_with_their_lines(tmp_path: Path) -> None:
    bad = [row(price_hr="-1", spot_price_hr="")] * 3
    catalog = read(tmp_path, *bad, A100, row(price_hr="-2", spot_price_hr=""))
    assert out(catalog) == ["2: price_hr: -1 is negative: left out (4 rows: lines 2-4, 6)"]


def test_a_row_without_a_gpu_is_an_offering_without_an_accelerator(tmp_path: Path) -> None:
    for count in ("", "0"):
        catalog = read(tmp_path, row(gpu="", gpu_count=count, gpu_mem_gib="", spot_price_hr=""))
        assert only(catalog).accelerator is None
        assert only(catalog).name == "aws/us-east-1/use1-az1/p4d.24xlarge"
        assert of_rows(catalog, "gpu") == ["no GPU: an offering without an accelerator"]


def test_a_date_that_is_none_is_unknown_or_what_is_given(tmp_path: Path) -> None:
    path = write(tmp_path, [row(as_of="2025-2026 (v8)", spot_price_hr="")])
    assert only(read_catalog([path])).price.as_of is None
    at = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)
    given = read_catalog([path], as_of=at)
    assert only(given).price.as_of == at
    assert "is no date: taken as 2026-01-02T00:00:00Z" in of_rows(given, "as_of")[0]


def test_an_unknown_column_is_said_and_not_read(tmp_path: Path) -> None:
    catalog = read_catalog([write(tmp_path, [f"{A100},x"], f"{HEADER},zones")])
    assert len(catalog.offerings) == 2
    assert "c.csv:1: the column 'zones' isn't known and isn't read" in str(catalog.findings[0])


def test_a_short_row_is_never_read_as_if_cells_stood_elsewhere(tmp_path: Path) -> None:
    catalog = read(tmp_path, A100.rpartition(",")[0], f"{A100},,")
    assert len(catalog.offerings) == 2
    assert out(catalog) == ["2: : cells: 12 in this row, 13 in the header: left out"]
