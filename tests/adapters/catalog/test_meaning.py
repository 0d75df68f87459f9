from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pytest

from stowplan.adapters.catalog.reading import provider_of, read_catalog
from stowplan.model.fleet import Price
from tests.adapters.catalogs import (
    A100,
    SKY,
    gb_each,
    of_rows,
    only,
    out,
    read,
    read_sky,
    row,
    sky,
    write,
)


def test_of_one_offer_twice_the_newer_stays_whichever_comes_first(tmp_path: Path) -> None:
    old = row(price_hr="98", as_of="2024-11-03")
    new = row(price_hr="55", spot_price_hr="", as_of="2026-07-20")
    for rows, line in (((old, new), 2), ((new, old), 3)):
        catalog = read(tmp_path, *rows)
        prices = {one.name[-5:]: one.rate_usd_per_hour for one in catalog.offerings}
        assert prices == {"xA100": 55, "-spot": Decimal("9.83")}
        (why,) = out(catalog)
        assert f"{line}: " in why
        assert "as of 2026-07-20, newer than 2024-11-03: left out" in why
        assert any("2 dates from 2024-11-03 to 2026-07-20" in str(one) for one in catalog.findings)


def test_of_one_offer_twice_on_one_date_the_first_stays(tmp_path: Path) -> None:
    other = read(tmp_path, row(spot_price_hr=""), row(price_hr="30", spot_price_hr=""))
    assert only(other).rate_usd_per_hour == Decimal("32.77")
    assert "differs, 32.77 there and 30 here, of the same date: left out" in out(other)[0]
    same = read(tmp_path, A100, A100)
    assert "8xA100' stands on line 2 too: left out" in out(same)[0]


def test_instances_that_differ_in_zone_or_gpu_are_different_offers(tmp_path: Path) -> None:
    catalog = read(tmp_path, A100, row(zone="use1-az2"), row(gpu="V100", gpu_mem_gib=16))
    assert len(catalog.offerings) == 6
    assert out(catalog) == []


def test_memory_is_of_each_gpu_in_nominal_gb(tmp_path: Path) -> None:
    rows = [
        row(gpu="A10G", gpu_count=1, gpu_mem_gib=22, spot_price_hr=""),
        row(gpu="RTX4070", gpu_count=4, gpu_mem_gib=64, spot_price_hr=""),
        row(gpu="RTX5090", gpu_count=2, gpu_mem_gib=32, spot_price_hr=""),
        row(gpu="T4", gpu_count=1, gpu_mem_gib="", spot_price_hr=""),
        row(gpu="L4", gpu_count=1, gpu_mem_gib=99, spot_price_hr=""),
    ]
    catalog = read(tmp_path, *rows)
    assert gb_each(catalog) == [24, 16, 32, 16, 99]
    assert of_rows(catalog, "gpu_mem_gib") == [
        "22 is a 24 GB A10G as its driver reports it: taken as 24",
        "64 is that of all 4 GPUs: taken as 16 each",
        "99 is no size that L4 comes in: taken as it is",
    ]


def test_sizes_of_skypilot_are_of_each_gpu_or_of_all_as_the_model_and_the_file_tell(
    tmp_path: Path,
) -> None:
    each = read_sky(tmp_path, sky("a", "V100", 8, 16384), sky("b", "A100", 2, 81920))
    assert gb_each(each) == [16, 80]
    whole = read_sky(tmp_path, sky("a", "RTX5090", 2, 65214), sky("b", "A100", 2, 81920))
    assert gb_each(whole) == [32, 40]
    total = read_sky(tmp_path, sky("a", "A100", 2, 40960, 81920), sky("b", "H100", 1, 95830))
    assert gb_each(total) == [40, 94]
    neither = read_sky(tmp_path, sky("b", "A100", 2, 81920), sky("c", "H100", 1))
    assert gb_each(neither) == []
    assert out(neither) == [
        "2: GpuInfo: SizeInMiB 81920 may be of one of the 2 GPUs or of all: left out",
        "3: GpuInfo: the memory of H100 isn't told: left out",
    ]


def test_skypilots_provider_is_its_folder_its_file_or_what_is_given(tmp_path: Path) -> None:
    a10 = sky("gpu_1x_a10", "A10", 1, 24576)
    path = write(tmp_path, [a10], SKY, "lambda/vms.csv")
    at = dt.datetime(2026, 5, 20, tzinfo=dt.UTC)
    catalog = read_catalog([path], as_of=at)
    assert only(catalog).name == "lambda/us-east-1/gpu_1x_a10/1xA10"
    assert only(catalog).price == Price(as_of=at, source="lambda/vms.csv")
    assert only(read_catalog([path], provider="acme")).provider == "acme"
    names = ("lambda/vms.csv", "nebius.csv", "oci_vms.csv", "vms.csv", "-", "../vms.csv")
    told = [provider_of(Path(name)) for name in names]
    assert told == ["lambda", "nebius", "oci", None, None, None]


@pytest.mark.parametrize(
    ("region", "area"),
    [
        ("us-east-1", "us"),
        ("eastus2", "us"),
        ("westeurope", "eu"),
        ("europe-west4", "eu"),
        ("southeastasia", "ap"),
        ("uk-london-1", "uk"),
        ("US", "us"),
        ("SA", None),
        ("usgovvirginia", None),
        ("no-luster-1", None),
        ("GRA", None),
    ],
)
def test_the_class_of_a_region_is_what_its_name_says(
    tmp_path: Path, region: str, area: str | None
) -> None:
    assert read(tmp_path, row(region=region)).offerings[0].region_class == area


def test_a_region_with_commas_is_kept_and_its_name_is_plain(tmp_path: Path) -> None:
    (offering, _) = read(tmp_path, row(region='"Oregon, US, NA"', zone="")).offerings
    assert (offering.region, offering.region_class) == ("Oregon, US, NA", "us")
    assert offering.name == "aws/Oregon-US-NA/p4d.24xlarge/8xA100"
