from __future__ import annotations

import csv
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from stowplan.adapters.catalog.findings import RowsFinding
from stowplan.adapters.catalog.reading import Catalog, read_catalog
from stowplan.model.fleet import Fleet
from tests.adapters.catalogs import gb_each, out

REAL = Path(__file__).parents[3].parent / "shared/data/catalog"
pytestmark = pytest.mark.skipif(
    not REAL.is_dir(), reason="the collection of real catalogs isn't beside this repository"
)


@pytest.fixture(scope="module")
def unified() -> Catalog:
    return read_catalog([REAL / "offerings.csv"], defaults=REAL / "provider_defaults.csv")


def sky(cloud: str) -> Catalog:
    return read_catalog([REAL / "skypilot-format" / cloud / "vms.csv"])


def test_every_price_of_the_catalog_is_an_offering_or_said_to_be_left_out(unified: Catalog) -> None:
    with (REAL / "offerings.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert unified.rows == len(rows)
    prices = {
        (line, spot)
        for line, row in enumerate(rows, start=2)
        for spot in (False, True)
        if row["spot_price_hr" if spot else "price_hr"]
    }
    assert len(prices) == 8495
    made = {(offer.row.line, offer.offering.interruptible) for offer in unified.offers}
    part = {line for line, row in enumerate(rows, start=2) if Decimal(row["gpu_count"]) % 1}
    part |= {line for line, row in enumerate(rows, start=2) if Decimal(row["gpu_count"]) == 0}
    older = prices - made - {(line, spot) for line in part for spot in (False, True)}
    assert len(made) == len(unified.offerings) == 7544
    told = [one for one in unified.findings if isinstance(one, RowsFinding) and one.left_out]
    assert {line for line, _ in older} == {*told[1].lines}
    assert part == {*told[0].lines}
    assert len(part) + len(told[1].lines) == unified.rows_left_out == 849


def test_the_catalogs_figures_are_those_of_its_rows(unified: Catalog) -> None:
    by_name = {offering.name: offering for offering in unified.offerings}
    spot = by_name["aws/us-east-1/use1-az1/g4dn.4xlarge/1xT4-spot"]
    assert spot.rate_usd_per_hour == Decimal("0.4623")
    assert spot.memory_bytes == 64 * 2**30
    assert str(spot.price.as_of)[:10] == "2024-11-03"
    h100 = by_name["azure/eastus2/Standard_ND96isr_H100_v5/8xH100"]
    assert h100.accelerator
    assert (h100.accelerator.family, h100.accelerator.memory_gb) == ("hopper", 80)
    families = Counter(one.accelerator.family for one in unified.offerings if one.accelerator)
    assert None not in families
    assert {one.price.source is not None for one in unified.offerings} == {True}
    document = unified.document()
    assert Fleet.model_validate(document["fleet"]).offerings == unified.offerings


def test_skypilots_files_agree_on_memory_though_they_count_it_differently() -> None:
    assert {*gb_each(sky("lambda"))} == {None, 16, 24, 40, 48, 80, 96, 180}
    assert {*gb_each(sky("nebius"))} == {48, 80, 141, 180}
    assert {*gb_each(sky("vast"))} == {8, 12, 16, 24, 32, 40, 48, 80, 94, 96, 141}
    for cloud, count in (("lambda", 425), ("nebius", 29), ("vast", 64)):
        assert len(sky(cloud).offerings) == count
        assert out(sky(cloud)) == []
