"""`stowplan import`: the outside world's inventories, as part of a snapshot."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click

from stowplan.cli.formats import as_json, as_yaml
from stowplan.cli.talk import Failed, errors, put, warn


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
    findings = [str(finding) for finding in imported.findings]
    if strict and findings:
        raise Failed(errors(findings), code=2)
    warn(findings)
    document = imported.document()
    as_text = as_json(json.dumps(document, indent=1)) if form == "json" else as_yaml(document)
    put(as_text)
