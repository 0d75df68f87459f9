"""How much memory each GPU of an offer has, in nominal GB, from what catalogs say of it.

Catalogs disagree on what they count: some give each GPU's memory, some that of all GPUs of the
instance together, and some give GiB as the driver reports them. What a model comes with decides
it; where that fits both ways, the other rows of the file do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from stowplan.adapters.catalog.cells import number, plain
from stowplan.adapters.catalog.gpus import Model, model_of
from stowplan.adapters.catalog.rows import SKYPILOT, Row
from stowplan.adapters.cells import BadCell

_SIZE = re.compile(r"['\"]SizeInMiB['\"]\s*:\s*([^,}\s]+)")
_TOTAL = re.compile(r"['\"]TotalGpuMemoryInMiB['\"]\s*:\s*([^,}\s]+)")
_MIB = Decimal(1024)


@dataclass(frozen=True)
class Memory:
    """The memory of each GPU, and what was assumed to say so."""

    gb: int | float | str
    kind: str = ""
    assumed: str = ""


def each_gpu(row: Row, count: int, together: bool | None) -> Memory:
    """Return the memory of each of a row's GPUs.

    `together`: whether the file's sizes are those of all GPUs (None: unknown), as `sums_up` tells.
    Raises BadCell where it isn't told.
    """
    model = model_of(row["gpu"])
    text = row["gpu_memory"]
    if not text:
        if model and len(model.sizes_gb) == 1:
            return Memory(model.sizes_gb[0])
        raise BadCell(f"the memory of {row['gpu']} isn't told")
    if row.form is not SKYPILOT:
        return _stated(number(text), count, model, row["gpu"])
    size, total = _sizes(text)
    if count > 1 and total != size * count:
        together = _is_together(size, count, model, together)
        if together is None:
            raise BadCell(f"SizeInMiB {size} may be of one of the {count} GPUs or of all")
        if together:
            size /= count
    return _stated(Decimal(round(size / _MIB, 2)), 1, model, row["gpu"])


def sums_up(rows: Iterable[Row]) -> bool | None:
    """Return whether a file's sizes are those of all GPUs of a row together, None if not known."""
    votes = set()
    for row in rows:
        try:
            count = int(number(row["count"]))
            size, total = _sizes(row["gpu_memory"])
        except BadCell:
            continue
        model = model_of(row["gpu"])
        if count > 1 and total != size * count and model:
            votes.add(_is_together(size, count, model, None))
    votes.discard(None)
    return votes.pop() if len(votes) == 1 else None


def _is_together(size: Decimal, count: int, model: Model | None, usual: bool | None) -> bool | None:
    each = model is not None and model.size_of(size / _MIB) is not None
    whole = model is not None and model.size_of(size / count / _MIB) is not None
    return usual if each == whole else whole


def _sizes(text: str) -> tuple[Decimal, Decimal | None]:
    """Return a GpuInfo's size and total, in MiB. Raises BadCell where it is of no one kind."""
    sizes, totals = _SIZE.findall(text), _TOTAL.findall(text)
    if len(sizes) != 1 or len(totals) > 1:
        raise BadCell("tells no one SizeInMiB")
    return number(sizes[0]), number(totals[0]) if totals else None


def _stated(gib: Decimal, count: int, model: Model | None, name: str) -> Memory:
    """Return the nominal size of what is stated, in GiB or in GB."""
    if not gib:
        raise BadCell("is 0")
    if model is None:
        return Memory(plain(gib) if gib == round(gib, 1) else round(gib))
    if gib in model.sizes_gb:
        return Memory(int(gib))
    nominal = model.size_of(gib)
    if nominal is not None:
        if abs(gib - nominal) < 1:
            return Memory(nominal)
        told = f"{plain(gib)} is a {nominal} GB {name} as its driver reports it: taken as {nominal}"
        return Memory(nominal, f"nominal {name} {gib}", told)
    shared = model.size_of(gib / count) if count > 1 else None
    if shared is not None:
        told = f"{plain(gib)} is that of all {count} GPUs: taken as {shared} each"
        return Memory(shared, "together", told)
    told = f"{plain(gib)} is no size that {name} comes in: taken as it is"
    return Memory(plain(gib), "odd size", told)
