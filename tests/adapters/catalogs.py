"""Small catalogs, for the tests of their reader."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stowplan.adapters.catalog.findings import RowsFinding
from stowplan.adapters.catalog.reading import Catalog, read_catalog
from stowplan.adapters.catalog.rows import UNIFIED
from stowplan.model.fleet import Offering

HEADER = ",".join(UNIFIED.columns)
A100 = "aws,p4d.24xlarge,A100,8,40,96,1152,us-east-1,use1-az1,32.77,9.83,2026-09-20,list"
SKY = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice"
TERMS = "provider,billing_increment_s,minimum_s,billing_starts,startup_p50_s,startup_p90_s,source"


def row(**cells: object) -> str:
    """Return the row of A100, with other cells."""
    whole = dict(zip(UNIFIED.columns, A100.split(","), strict=True)) | cells
    return ",".join(str(cell) for cell in whole.values())


def sky(instance: str, gpu: str, count: object, mib: object = "", total: object = "") -> str:
    """Return a row of a vms.csv; memory as GpuInfo writes it, none where it isn't given."""
    told = (
        f"{{'Gpus': [{{'Name': '{gpu}', 'Count': {count}, 'MemoryInfo': {{'SizeInMiB': {mib}}}}}]"
    )
    info = f"\"{told}, 'TotalGpuMemoryInMiB': {total or mib}}}\"" if mib else ""
    return f"{instance},{gpu},{count},32,64.0,1.5,us-east-1,{info},"


def write(folder: Path, rows: Iterable[str], header: str = HEADER, name: str = "c.csv") -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def read(folder: Path, *rows: str) -> Catalog:
    return read_catalog([write(folder, rows)])


def read_sky(folder: Path, *rows: str) -> Catalog:
    return read_catalog([write(folder, rows, SKY, "acme/vms.csv")])


def only(catalog: Catalog) -> Offering:
    (offering,) = catalog.offerings
    return offering


def gb_each(catalog: Catalog) -> list[float | None]:
    return [one.accelerator.memory_gb if one.accelerator else None for one in catalog.offerings]


def of_rows(catalog: Catalog, path: str) -> list[str]:
    """Return what is said of rows' column."""
    told = (one for one in catalog.findings if isinstance(one, RowsFinding))
    return [one.message for one in told if one.path == path]


def out(catalog: Catalog) -> list[str]:
    """Return why rows and prices are left out."""
    told = (one for one in catalog.findings if isinstance(one, RowsFinding) and one.left_out)
    return [f"{one.line}: {one.path}: {one.message}" for one in told]
