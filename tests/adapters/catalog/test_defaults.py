from __future__ import annotations

from pathlib import Path

import pytest

from stowplan.adapters.catalog.reading import Catalog, read_catalog
from stowplan.adapters.findings import Finding
from stowplan.model.errors import InvalidInput
from stowplan.model.fleet import Billing, Offering, Reclaims, Startup
from tests.adapters.catalogs import A100, TERMS, of_rows, row, write


def read(
    folder: Path, *terms: str, header: str = TERMS, rows: tuple[str, ...] = (A100,)
) -> Catalog:
    table = write(folder, terms, header, "terms.csv")
    return read_catalog([write(folder, rows)], defaults=table)


def first(catalog: Catalog) -> Offering:
    return catalog.offerings[0]


def said(catalog: Catalog) -> list[str]:
    return [one.message for one in catalog.findings if type(one) is Finding]


def test_terms_are_those_of_the_provider_and_written_even_where_they_are_the_usual(
    tmp_path: Path,
) -> None:
    catalog = read(tmp_path, "AWS,1,0,created (startup billed),180,600,docs", "gcp,60,60,ready,,,x")
    assert first(catalog).billing == Billing(
        increment_s=1, minimum_s=0, starts="creation", source="docs"
    )
    assert first(catalog).startup == Startup(boot_p50_s=180, boot_p90_s=600, source="docs")
    written = catalog.document()["fleet"]["offerings"][0]
    assert written["billing"] == {
        "increment_s": 1, "minimum_s": 0, "starts": "creation", "source": "docs",
    }  # fmt: skip
    assert said(catalog) == ["unknown for aws: reclaims"]


def test_startup_times_that_a_column_calls_proposed_are_said_to_be(tmp_path: Path) -> None:
    header = TERMS.replace("p50_s", "p50_s_proposed")
    catalog = read(tmp_path, "aws,1,60,ready,180,600,x", "gcp,1,60,ready,180,600,x", header=header)
    assert first(catalog).startup.boot_p50_s == 180
    assert first(catalog).startup.source == "proposed; x"
    assert first(catalog).billing.source == "x"
    assert said(catalog)[1:] == [
        "startup times are proposals, as their columns say, for aws (line 2)"
    ]


@pytest.mark.parametrize(
    ("text", "starts", "noted"),
    [
        ("after health checks pass", "ready", False),
        ("running state", "creation", True),
        ("pod start", "creation", True),
        ("loading (creating not billed for compute)", "creation", True),
        ("unknown", None, False),
        ("at full moon", None, True),
    ],
)
def test_when_billing_starts_is_counted_never_too_little(
    tmp_path: Path, text: str, starts: str | None, noted: bool
) -> None:
    catalog = read(tmp_path, f"aws,60,60,{text},180,600,docs")
    billing = catalog.document()["fleet"]["offerings"][0]["billing"]
    assert billing.get("starts") == starts
    assert bool(of_rows(catalog, "billing_starts")) is noted


def test_what_is_unknown_is_left_out_and_said_once_for_providers_alike(tmp_path: Path) -> None:
    rows = tuple(row(provider=name, spot_price_hr="") for name in ("oci", "aws", "do", "ibm"))
    catalog = read(tmp_path, "oci,unknown,,unknown,240,1200,x", "aws,1,60,ready,1,2,x", rows=rows)
    written = {one["provider"]: one for one in catalog.document()["fleet"]["offerings"]}
    assert "billing" not in written["oci"]
    assert written["oci"]["startup"] == {
        "boot_p50_s": 240, "boot_p90_s": 1200, "source": "x",
    }  # fmt: skip
    assert not {"billing", "startup"} & written["do"].keys()
    usual = "billing.increment_s, billing.minimum_s, billing.starts"
    assert said(catalog)[:2] == [
        f"unknown for do, ibm: {usual}, startup.boot_p50_s",
        f"unknown for oci: {usual}",
    ]


def test_reclaims_are_of_interruptible_offers_and_name_their_source(tmp_path: Path) -> None:
    header = "provider,billing_starts,reclaims_per_hour,uptime_p50_s,confidence,source"
    on_demand, spot = read(tmp_path, "aws,ready,0.05,2340,low,traces", header=header).offerings
    assert on_demand.reclaims is None
    assert spot.reclaims == Reclaims(
        per_hour=0.05, uptime_p50_s=2340, source="traces", confidence="low"
    )


def test_terms_without_a_source_say_where_they_stand(tmp_path: Path) -> None:
    header = TERMS.removesuffix(",source")
    offering = first(read(tmp_path, "aws,1,60,ready,180,600", header=header))
    assert (offering.billing.source, offering.startup.source) == ("terms.csv, line 2",) * 2


def test_of_terms_nothing_is_known_without_a_row(tmp_path: Path) -> None:
    offering = first(read(tmp_path, "gcp,1,60,ready,180,600,x"))
    assert (offering.billing, offering.startup, offering.teardown_s) == (Billing(), Startup(), None)


def test_what_no_table_can_mean_is_said_with_its_line_and_unknown(tmp_path: Path) -> None:
    catalog = read(tmp_path, "aws,0,-1,ready,1.5,x,s", "aws,9,9,ready,9,9,s", "short,1")
    assert "billing.increment_s" in str(said(catalog))
    assert of_rows(catalog, "billing_increment_s") == [
        "an increment of 0 s is none: taken as unknown"
    ]
    assert of_rows(catalog, "minimum_s") == ["-1 is negative: taken as unknown"]
    assert "1.5 is no whole number of seconds" in of_rows(catalog, "startup_p50_s")[0]
    assert "'x' is not a number" in of_rows(catalog, "startup_p90_s")[0]
    assert of_rows(catalog, "provider") == ["'aws' is there already: the first row holds"]
    assert catalog.rows_left_out == 0


def test_without_a_table_one_line_says_what_is_taken(tmp_path: Path) -> None:
    catalog = read_catalog([write(tmp_path, [A100])])
    assert said(catalog) == [
        "the providers' terms (billing, startup, reclaims) aren't known without --defaults: "
        "estimates say what they take for them"
    ]


def test_a_catalog_in_place_of_a_table_is_refused_and_a_table_in_place_of_a_catalog(
    tmp_path: Path,
) -> None:
    catalog, table = write(tmp_path, [A100]), write(tmp_path, [], TERMS, "terms.csv")
    with pytest.raises(InvalidInput) as caught:
        read_catalog([table], defaults=catalog)
    assert [problem.message for problem in caught.value.problems] == [
        "is no table of providers' defaults",
        "holds providers' defaults, not offers",
    ]
    assert all(problem.hint for problem in caught.value.problems)
