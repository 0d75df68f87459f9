"""The offerings of a catalog's row: one on demand, and one more where it can be interrupted."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pydantic import ValidationError

from stowplan.adapters.catalog.cells import moment, number, plain, usd, zulu
from stowplan.adapters.catalog.defaults import Defaults
from stowplan.adapters.catalog.findings import Tally
from stowplan.adapters.catalog.gpus import is_no_gpu, model_of
from stowplan.adapters.catalog.memory import each_gpu
from stowplan.adapters.catalog.regions import class_of
from stowplan.adapters.catalog.rows import Row
from stowplan.adapters.cells import BadCell
from stowplan.model.fleet import Offering
from stowplan.model.wording import explained

type Fields = dict[str, Any]  # Any: what the fields of an offering hold

_NOT_IN_NAMES = re.compile(r"[^\w.+-]+")


@dataclass(frozen=True)
class Offer:
    """An offering, and where it stands."""

    offering: Offering
    row: Row


@dataclass(frozen=True)
class Reader:
    """Makes offerings of rows; what it can't make one of, or assumes, it tells."""

    tally: Tally
    defaults: Mapping[str, Defaults]
    as_of: dt.datetime | None
    """When prices held whose row doesn't tell."""
    together: bool | None
    """Whether GpuInfo's sizes are those of all GPUs of a row, where it could be either."""

    def offers(self, row: Row) -> Iterator[Offer]:
        """Yield the offerings of a row."""
        prices = list(self._prices(row))
        if not prices:
            return
        try:
            common = {**self._common(row), "price": self._price(row)}
        except _Unread as why:
            self.tally.leave_out(row.file, row.line, why.column, why.kind, why.message)
            return
        for price, interruptible in prices:
            fields = dict(common, rate_usd_per_hour=price)
            if interruptible:
                fields |= {"name": f"{common['name']}-spot", "interruptible": True}
            fields |= self._terms(row["provider"], interruptible)
            try:
                yield Offer(Offering.model_validate(fields), row)
            except ValidationError as error:
                problem = explained(error, Offering)[0]
                self.tally.leave_out(row.file, row.line, "", "refused", str(problem))

    def _common(self, row: Row) -> Fields:
        """Return what a row's offerings share. Raises _Unread where it can't be told."""
        for part in ("provider", "region", "instance"):
            if not row[part]:
                raise _Unread(row, part, "empty", "is empty")
        accelerator = self._accelerator(row)
        fields: Fields = {
            "name": _name(row, accelerator),
            "provider": row["provider"],
            "region": row["region"],
        }
        if area := class_of(row["region"]):
            fields["region_class"] = area
        if row["zone"]:
            fields["location"] = row["zone"]
        if accelerator:
            fields["accelerator"] = accelerator
        for part, field, unit in (("cores", "cpu_cores", 1), ("memory", "memory_bytes", 2**30)):
            if not row[part]:
                self._assume(row, part, "unknown", "isn't told: taken as 0")
                continue
            value = _number(row, part) * unit
            fields[field] = plain(value) if unit == 1 else int(value)
        return fields

    def _accelerator(self, row: Row) -> Fields | None:
        name = row["gpu"]
        count = _number(row, "count") if row["count"] else Decimal(0)
        if not name and not count:
            self._assume(row, "gpu", "no GPU", "no GPU: an offering without an accelerator")
            return None
        if not name:
            raise _Unread(row, "gpu", "empty", f"is empty, and there are {count} of it")
        if is_no_gpu(name):
            raise _Unread(row, "gpu", "no GPU", f"'{name}' is no GPU")
        if not row["count"]:
            raise _Unread(row, "count", "empty", f"how many {name} isn't told")
        if count < 1 or count != count.to_integral_value():
            told = f"{row['count']} {name} is no whole GPU, and only whole ones are placed"
            raise _Unread(row, "count", "part", told)
        try:
            memory = each_gpu(row, int(count), self.together)
        except BadCell as error:
            raise _Unread(row, "gpu_memory", _kind(error), str(error)) from None
        if memory.assumed:
            self._assume(row, "gpu_memory", memory.kind, memory.assumed)
        model = model_of(name)
        known: Fields = {"family": model.family, "vendor": model.vendor} if model else {}
        if not model:
            told = f"'{name}' isn't known: without family and vendor"
            self._assume(row, "gpu", f"unknown {name}", told)
        return {"model": name, **known, "memory_gb": memory.gb, "count": int(count)}

    def _prices(self, row: Row) -> Iterator[tuple[Decimal, bool]]:
        """Yield the prices of a row, each with whether it is that of an interruptible offering."""
        found: dict[str, Decimal] = {}
        for part in ("price", "spot"):
            if not row[part]:
                continue
            try:
                found[part] = usd(row[part])
            except BadCell as error:
                self._leave_out(row, part, _kind(error), str(error))
        if "price" in found and not found["price"]:
            self._leave_out(row, "price", "free", "a price of 0 is none")
            del found["price"]
        if "spot" in found and not found["spot"]:
            self._assume(row, "spot", "free", "a price of 0 is none: never interruptible")
            del found["spot"]
            if not row["price"]:
                self._leave_out(row, "price", "no price", "there is no price")
        elif not row["price"] and not row["spot"]:
            self._leave_out(row, "price", "no price", "there is no price")
        if "price" in found and found.get("spot", Decimal(0)) > found["price"]:
            told = f"{row['spot']} interruptible is dearer than {row['price']} on demand"
            self._assume(row, "spot", "dearer", told)
        yield from ((price, part == "spot") for part, price in found.items())

    def _price(self, row: Row) -> Fields:
        """Return when and by whom a row's prices are told."""
        source = row["source"] or "/".join(row.file.replace("\\", "/").split("/")[-2:])
        told = moment(row["as_of"]) if row["as_of"] else None
        if told is None and row["as_of"]:
            instead = f": taken as {zulu(self.as_of)}" if self.as_of else ": taken as unknown"
            self._assume(row, "as_of", "no time", f"'{row['as_of']}' is no date{instead}")
        elif told is None and self.as_of is None:
            self._assume(row, "as_of", "unknown", "when the prices held isn't told: see --as-of")
        as_of = told or self.as_of
        return {"as_of": as_of, "source": source} if as_of else {"source": source}

    def _terms(self, provider: str, interruptible: bool) -> Fields:
        given = self.defaults.get(provider.lower())
        if given is None:
            return {}
        parts = ("billing", "startup", "reclaims") if interruptible else ("billing", "startup")
        return {part: known for part in parts if (known := given.part(part))}

    def _assume(self, row: Row, part: str, kind: str, message: str) -> None:
        self.tally.assume(row.file, row.line, row.form.column(part), kind, message)

    def _leave_out(self, row: Row, part: str, kind: str, message: str) -> None:
        self.tally.leave_out(row.file, row.line, row.form.column(part), kind, message)


class _Unread(Exception):
    """Why no offering can be made of a row."""

    def __init__(self, row: Row, part: str, kind: str, message: str) -> None:
        super().__init__(message)
        self.column, self.kind, self.message = row.form.column(part), kind, message


def _number(row: Row, part: str) -> Decimal:
    try:
        return number(row[part])
    except BadCell as error:
        raise _Unread(row, part, _kind(error), str(error)) from None


def _kind(error: BadCell) -> str:
    """Return what errors alike have in common: their last word, as in `-2 is negative`."""
    return str(error).rpartition(" ")[2]


def _name(row: Row, accelerator: Fields | None) -> str:
    """Return an offering's name: the same row always has the same, whatever else there is."""
    parts = [row["provider"], row["region"], row["zone"], row["instance"]]
    if accelerator:
        parts.append(f"{accelerator['count']}x{accelerator['model']}")
    cleaned = (_NOT_IN_NAMES.sub("-", part).strip("-") for part in parts if part)
    return "/".join(part for part in cleaned if part)
