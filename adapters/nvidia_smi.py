"""Reads the reports of `nvidia-smi -q -x`, one XML file a host, as machines with their GPUs.

A report says all about the GPUs and nothing about the host: its name is the file's (`gpu-01.xml`
is gpu-01), and cores and memory are 0 unless given. Health is judged by `stowplan.model.health`.
A GPU is `faulted` or `at_risk` by the worst sign it shows. One that shows none is `healthy` only
where the report told the signs of `VITAL`, that neither a row remap failed nor is pending and
that no uncorrectable error was counted since the driver was loaded. Otherwise it is `unknown`: a
T4 (no row remapping), a GeForce (no ECC), a card with ECC off. GPUs in MIG mode are left out,
since only whole GPUs are placed.

Not judged: a PCIe link below its best, which is normal while idle; software thermal throttling,
which one report can't date; counters that matter only when they grow.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

from pydantic import ValidationError

from stowplan.adapters.findings import Finding, Imported
from stowplan.adapters.nvidia_smi_gpu import Gpu, device_of, left_out, unknown_health
from stowplan.adapters.nvidia_smi_readings import whole
from stowplan.adapters.nvidia_smi_report import Report, reports
from stowplan.model.errors import InvalidInput, Problem
from stowplan.model.fleet import Device, Machine
from stowplan.model.health import Sign, untold
from stowplan.model.policy import Policy
from stowplan.model.wording import explained

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TIME = re.compile(r"(?:[A-Z][a-z]{2} )?([A-Z][a-z]{2}) +(\d\d?) (\d\d):(\d\d):(\d\d) (\d{4})")


def read_nvidia_smi(
    paths: Sequence[Path],
    *,
    now: datetime | None = None,
    zone: tzinfo | None = None,
    cpu_cores: float | None = None,
    memory_bytes: int | None = None,
) -> Imported:
    """Return the hosts that reports describe, in the order given, with what was assumed.

    `-` reads standard input. `now` is the latest report's time unless given. nvidia-smi writes
    its host's local time without a zone: `zone` says which, UTC is assumed. `cpu_cores` and
    `memory_bytes` hold for every host. Raises InvalidInput with every file that can't be read,
    isn't such a report, or has another's name.
    """
    if now is not None and now.tzinfo is None:
        raise ValueError("`now` needs a time zone")
    read = reports(paths)
    uuids = Counter(gpu.uuid for report in read for gpu in report.gpus)
    machines: list[Machine] = []
    findings: list[Finding] = []
    for report in read:
        reported_at = _reported_at(report, zone, findings)
        findings += _left_to_say(report, cpu_cores, memory_bytes)
        devices = _devices(report, uuids, findings)
        try:
            machine = Machine(
                name=report.name,
                reported_at=reported_at,
                cpu_cores=cpu_cores or 0,
                memory_bytes=memory_bytes or 0,
                devices=devices,
            )
        except ValidationError as error:
            raise _at(report.file, explained(error, Machine)) from None
        machines.append(machine)
    at = _now(machines, now, findings)
    findings += _out_of_time(read, machines, at)
    return Imported("nvidia-smi", at, tuple(machines), tuple(findings))


def _devices(
    report: Report, uuids: Counter[str | None], findings: list[Finding]
) -> tuple[Device, ...]:
    devices: list[Device] = []
    unknown: dict[tuple[Sign, ...], list[Gpu]] = {}
    for gpu in report.gpus:
        if gpu.partitioned:
            findings.append(left_out(gpu))
            continue
        try:
            device, assumed = device_of(gpu, report.name, report.gpus, uuids[gpu.uuid] > 1)
        except ValidationError as error:
            raise _at(report.file, explained(error, Device), gpu.element.line) from None
        devices.append(device)
        findings += assumed
        if device.health == "unknown":
            unknown.setdefault(untold(gpu.signs), []).append(gpu)
    findings += (unknown_health(gpus, signs) for signs, gpus in unknown.items())
    return tuple(devices)


def _left_to_say(
    report: Report, cpu_cores: float | None, memory_bytes: int | None
) -> Iterator[Finding]:
    """Yield what a report can't say about its host, and whether GPUs are missing from it."""
    given = {"cpu_cores": cpu_cores, "memory_bytes": memory_bytes}
    missing = [field for field, value in given.items() if value is None]
    if missing:
        message = (
            f"the report doesn't say {' and '.join(missing)}, taken as 0: no run that asks for "
            "any fits until they are given"
        )
        yield report.finding("", message)
    if report.name == "stdin":
        yield report.finding("", "a host is named after its file; this one is named 'stdin'")
    attached = whole(report.log.read("attached_gpus"))
    if attached is not None and attached != len(report.gpus):
        message = (
            f"says {attached} and {len(report.gpus)} are there: only those are taken, and "
            "indices are those of the report"
        )
        yield report.finding("attached_gpus", message)
    if not report.gpus:
        yield report.finding("", "no GPU is reported: a machine without GPUs")


def _reported_at(report: Report, zone: tzinfo | None, findings: list[Finding]) -> datetime | None:
    text = report.log.read("timestamp")
    try:
        match = _TIME.fullmatch(text)
        if match:
            month, day, hour, minute, second, year = match.groups()
            date = (int(year), _MONTHS.index(month) + 1, int(day))
            time = datetime(*date, int(hour), int(minute), int(second))
        else:
            time = datetime.fromisoformat(text)
        if time.tzinfo is None:
            if zone is None:
                message = f"'{text}' is local time of an unnamed zone, taken as UTC"
                findings.append(report.finding("timestamp", message))
            time = time.replace(tzinfo=zone or UTC)
        return time.astimezone(UTC)
    except (ValueError, OverflowError):
        what = f"'{text[:40]}' is no time" if text else "no time is reported"
        findings.append(report.finding("timestamp", f"{what}; taken as reported at `now`"))
        return None


def _now(machines: Sequence[Machine], now: datetime | None, findings: list[Finding]) -> datetime:
    if now is not None:
        return now
    reported = [machine.reported_at for machine in machines if machine.reported_at]
    if reported:
        return max(reported)
    findings.append(Finding(None, None, "now", "no report tells a time: the clock's is taken"))
    return datetime.now(UTC).replace(microsecond=0)


def _out_of_time(
    read: Sequence[Report], machines: Sequence[Machine], now: datetime
) -> Iterator[Finding]:
    stale_after = timedelta(seconds=Policy().stale_after_s)
    for report, machine in zip(read, machines, strict=True):
        age = now - (machine.reported_at or now)
        if age > stale_after:
            message = (
                f"{age} older than `now`: past policy.stale_after_s ({Policy().stale_after_s} s "
                "unless set) no run is placed here"
            )
            yield report.finding("timestamp", message)
        elif age < timedelta(0):
            message = f"{-age} later than `now`: is its clock in another zone?"
            yield report.finding("timestamp", message)


def _at(file: str, problems: Sequence[Problem], line: int | None = None) -> InvalidInput:
    return InvalidInput(
        Problem(problem.path, problem.message, problem.hint, file=file, line=line)
        for problem in problems
    )
