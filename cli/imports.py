"""`stowplan import`: the outside world's inventories, as part of a snapshot."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click

from stowplan.cli.formats import as_json, as_yaml
from stowplan.cli.talk import Failed, errors, put, warn

if TYPE_CHECKING:
    from stowplan.adapters.catalog.reading import Catalog


def _moment(ctx: click.Context, param: click.Parameter, value: str | None) -> dt.datetime | None:
    if value is None:
        return None
    try:
        moment = dt.datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(f"'{value}' is not a time like 2026-09-21T06:17:37Z") from None
    if moment.tzinfo is None:
        raise click.BadParameter(f"'{value}' has no time zone: {value}Z")
    return moment


def _day(ctx: click.Context, param: click.Parameter, value: str | None) -> dt.datetime | None:
    if value is not None and len(value) == len("2026-09-21"):
        value += "T00:00:00Z"
    return _moment(ctx, param, value)


def _zone(ctx: click.Context, param: click.Parameter, value: str | None) -> ZoneInfo | None:
    try:
        return ZoneInfo(value) if value else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise click.BadParameter(f"'{value}' is not a time zone like Europe/Berlin") from None


@click.group(name="import")
def imports() -> None:
    """Read an inventory and print it as part of a snapshot.

    \b
    Example:
      stowplan import nvidia-smi gpu-01.xml
    """


@imports.command(name="nvidia-smi")
@click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(allow_dash=True)
)
@click.option("--strict", is_flag=True, help="Take every finding as an error.")
@click.option(
    "--now",
    metavar="TIME",
    callback=_moment,
    help="The snapshot's time.  [default: the newest file's]",
)
@click.option(
    "--zone", metavar="NAME", callback=_zone, help="Time zone of the files.  [default: UTC]"
)
@click.option("--cpu-cores", type=click.IntRange(min=0), help="Cores of each machine.")
@click.option("--memory-bytes", type=click.IntRange(min=0), help="Memory of each machine.")
@click.option(
    "-o", "--output", "form", type=click.Choice(["yaml", "json"]), default="yaml",
    show_default=True, help="How to write it.",
)  # fmt: skip
def nvidia_smi(
    files: tuple[str, ...],
    strict: bool,
    now: dt.datetime | None,
    zone: ZoneInfo | None,
    cpu_cores: int | None,
    memory_bytes: int | None,
    form: str,
) -> None:
    """Read what nvidia-smi -q -x wrote, one file a machine.

    A file's name is its machine's: gpu-01.xml is gpu-01. The fleet goes to standard output. What
    had to be assumed is said on standard error.

    \b
    Example:
      nvidia-smi -q -x > gpu-01.xml
      stowplan import nvidia-smi gpu-01.xml --cpu-cores 64 --memory-bytes 540000000000
    """
    from stowplan.adapters.nvidia_smi import read_nvidia_smi

    imported = read_nvidia_smi(
        [Path(file) for file in files],
        now=now,
        zone=zone,
        cpu_cores=cpu_cores,
        memory_bytes=memory_bytes,
    )
    _tell(imported.findings, strict)
    document = imported.document()
    put(as_json(json.dumps(document, indent=1)) if form == "json" else as_yaml(document))


def _tell(findings: Iterable[object], strict: bool) -> None:
    """Warn of what was found, or fail of it where it is to count as an error."""
    told = [str(finding) for finding in findings]
    if strict and told:
        raise Failed(errors(told), code=2)
    warn(told)


def _account(read: Catalog) -> str:
    """Return how many offerings the rows gave, in one line."""
    from stowplan.cli.render.text import counted

    spot = sum(offering.interruptible for offering in read.offerings)
    told = f"{counted(read.rows, 'row')}: {counted(len(read.offers), 'offering')}"
    if spot:
        told += f", {spot:,} of them interruptible"
    if read.rows_left_out:
        told += f"; {counted(read.rows_left_out, 'row')} left out, in whole or in part"
    return told


@imports.command()
@click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(allow_dash=True)
)
@click.option("--strict", is_flag=True, help="Take every finding as an error.")
@click.option(
    "--defaults",
    metavar="FILE",
    type=click.Path(),
    help="Table of the providers' terms: billing, startup, reclaims.",
)
@click.option(
    "--provider", metavar="NAME", help="Whose a SkyPilot file is.  [default: its folder or file]"
)
@click.option(
    "--as-of",
    metavar="TIME",
    callback=_day,
    help="When prices held whose row doesn't tell: a time, or a date.",
)
@click.option(
    "--now",
    metavar="TIME",
    callback=_moment,
    help="The snapshot's time.  [default: the newest price's]",
)
@click.option(
    "-o", "--output", "form", type=click.Choice(["yaml", "json"]), default="yaml",
    show_default=True, help="How to write it.",
)  # fmt: skip
def catalog(
    files: tuple[str, ...],
    strict: bool,
    defaults: str | None,
    provider: str | None,
    as_of: dt.datetime | None,
    now: dt.datetime | None,
    form: str,
) -> None:
    """Read cloud offers and their prices from catalogs in CSV.

    A catalog is of the unified form (provider, instance_type, gpu, price_hr ...), or one cloud's
    vms.csv in SkyPilot's. Each price becomes an offering: a row with a spot price gives two. The
    fleet goes to standard output. What is left out or assumed is said on standard error.

    \b
    Example:
      stowplan import catalog offerings.csv --defaults provider_defaults.csv
      stowplan import catalog lambda/vms.csv --as-of 2026-05-20
    """
    from stowplan.adapters.catalog.reading import read_catalog
    from stowplan.adapters.catalog.yaml import as_yaml as many_as_yaml

    read = read_catalog(
        [Path(file) for file in files],
        defaults=Path(defaults) if defaults else None,
        provider=provider,
        as_of=as_of,
        now=now,
    )
    _tell(read.findings, strict)
    document = read.document()
    put(as_json(json.dumps(document, indent=1)) if form == "json" else many_as_yaml(document))
    click.echo(_account(read), err=True)
