"""What the texts of an `nvidia-smi -q -x` report say: values, and the signs of health.

The names moved between drivers, and all are tried: v11 writes `clocks_throttle_reasons`, later
ones `clocks_event_reasons`; `pending_blacklist` became `pending_retirement`; errors were counted
as `double_bit` before Turing. A text that isn't a plain answer (N/A, Not Supported, Unknown
Error, Requested functionality has been deprecated) is no reading: neither a fault nor a proof of
health. A corrected error, a PCIe replay, a throttled microsecond is counted from the card's first
day, so one report of it says nothing; nor does a power cap, which is how a card is meant to work.
So it is with pages retired for double-bit errors: more than fifteen are a fault where more than
one of them is of the last week, and one report doesn't tell when.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from stowplan.adapters.xml_tree import Element
from stowplan.model.health import EXHAUSTED_PAGES, RECOVERY_ACTIONS, Sign

_WHOLE = re.compile(r"([0-9]{1,12})(?: ?(?:MiB|MB|bank\(s\)))?")
_WATTS = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(?: ?W)?")
_ANSWERS: Mapping[str, bool] = dict.fromkeys(("yes", "true", "active"), True) | dict.fromkeys(
    ("no", "false", "not active"), False
)
_NO_READING = {
    *("", "n/a", "not supported", "not available", "not found", "function not found", "err!"),
    *("unknown", "unknown error", "insufficient permissions", "uninitialized", "timeout"),
    *("requested functionality has been deprecated", "gpu is lost", "gpu requires reset"),
}
_BROKEN: Mapping[str, Sign] = {
    "gpu is lost": Sign.GPU_LOST,
    "gpu requires reset": Sign.RESET_REQUIRED,
}
_NOT_THE_CARDS = frozenset({"processes", "accounted_processes"})
"""Elements whose texts others choose: a process may be called anything."""

_EVENTS = (
    "clocks_event_reasons/clocks_event_reason_",
    "clocks_throttle_reasons/clocks_throttle_reason_",
)
_FLAGS: tuple[tuple[Sign, str], ...] = (
    (Sign.RESET_REQUIRED, "gpu_reset_status/reset_required"),
    (Sign.RECOVERY_DRAIN_AND_RESET, "gpu_reset_status/drain_and_reset_recommended"),
    (Sign.ROW_REMAP_FAILURE, "remapped_rows/remapped_row_failure"),
    (Sign.ROW_REMAP_PENDING, "remapped_rows/remapped_row_pending"),
    (Sign.SRAM_THRESHOLD_EXCEEDED, "ecc_errors/aggregate/sram_threshold_exceeded"),
    (Sign.UNREPAIRABLE_MEMORY, "ecc_errors/unrepairable_memory"),
    (Sign.CHANNEL_REPAIR_PENDING, "ecc_errors/channel_repair_pending"),
    (Sign.TPC_REPAIR_PENDING, "ecc_errors/tpc_repair_pending"),
    (Sign.RETIRED_PAGES_PENDING, "retired_pages/pending_retirement"),
    (Sign.RETIRED_PAGES_PENDING, "retired_pages/pending_blacklist"),
    *((Sign.HW_SLOWDOWN, f"{event}hw_slowdown") for event in _EVENTS),
    *((Sign.HW_THERMAL_SLOWDOWN, f"{event}hw_thermal_slowdown") for event in _EVENTS),
    *((Sign.HW_POWER_BRAKE, f"{event}hw_power_brake_slowdown") for event in _EVENTS),
    (Sign.FABRIC_UNHEALTHY, "fabric/health/route_unhealthy"),
    (Sign.FABRIC_DEGRADED, "fabric/health/route_recovery_in_progress"),
    (Sign.FABRIC_DEGRADED, "fabric/health/access_timeout_recovery"),
)
_UNCORRECTABLE = (
    *("dram_uncorrectable", "sram_uncorrectable"),
    *("sram_uncorrectable_parity", "sram_uncorrectable_secded"),
    *("double_bit/total", "double_bit/device_memory"),
)
_ACTIONS: Mapping[str, int] = {
    "none": 0,
    "reset": 1,
    "gpu reset": 1,
    "reboot": 2,
    "node reboot": 2,
    "drain p2p": 3,
    "drain and reset": 4,
    "recover imex domain": 5,
    "bus reset": 6,
    "system reboot": 7,
}
_ASKS = re.compile(r"reset|reboot|drain|recover")
_STATES: Mapping[str, bool] = {"completed": False, "in progress": True, "not started": True}
_SUMMARIES: Mapping[str, tuple[bool, bool]] = {
    "healthy": (False, False),
    "unhealthy": (True, False),
    "limited capacity": (False, True),
    "limited": (False, True),
}
"""The fabric's summary: whether it is unhealthy, and whether it is degraded."""


def plain(text: str) -> str:
    """Return a text in lower case, without the brackets that some versions put around it."""
    return text.strip().strip("[]").rstrip(".").casefold()


def told(text: str) -> str | None:
    """Return a text that says something, or None for N/A and its like."""
    return None if plain(text) in _NO_READING else text.strip()


def whole(text: str) -> int | None:
    """Return a whole number, with or without its unit, or None."""
    match = _WHOLE.fullmatch(text.strip())
    return int(match[1]) if match else None


def watts(text: str) -> float | int | None:
    """Return a power in watts, or None."""
    match = _WATTS.fullmatch(text.strip())
    if match is None:
        return None
    power = float(match[1])
    return int(power) if power.is_integer() else power


def signs_of(gpu: Element) -> dict[Sign, bool]:
    """Return what a `<gpu>` element tells about its health; a sign that it can't tell is absent.

    Where two readings tell one sign, it shows if either does.
    """
    shown: dict[Sign, bool] = {}
    for reading in (_breakage(gpu), _flags(gpu), _recovery(gpu), _memory(gpu), _fabric(gpu)):
        for sign, shows in reading:
            shown[sign] = shown.get(sign, False) or shows
    return shown


def _breakage(gpu: Element) -> Iterator[tuple[Sign, bool]]:
    """Find what nvidia-smi writes in place of any reading once a card is gone."""
    yield Sign.GPU_LOST, False
    for element in gpu.walk(without=_NOT_THE_CARDS):
        if sign := _BROKEN.get(plain(element.text)):
            yield sign, True


def _flags(gpu: Element) -> Iterator[tuple[Sign, bool]]:
    for sign, path in _FLAGS:
        answer = _ANSWERS.get(plain(gpu.read(path)))
        if answer is not None:
            yield sign, answer


def _recovery(gpu: Element) -> Iterator[tuple[Sign, bool]]:
    text = plain(gpu.read("gpu_recovery_action"))
    if text in _ACTIONS:
        for number, sign in RECOVERY_ACTIONS.items():
            yield sign, number == _ACTIONS[text]
    elif text not in _NO_READING and _ASKS.search(text):
        yield Sign.RECOVERY_OTHER, True


def _memory(gpu: Element) -> Iterator[tuple[Sign, bool]]:
    for name in _UNCORRECTABLE:
        errors = whole(gpu.read(f"ecc_errors/volatile/{name}"))
        if errors is not None:
            yield Sign.ECC_UNCORRECTABLE_VOLATILE, errors > 0
    spent = whole(gpu.read("remapped_rows/row_remapper_histogram/row_remapper_histogram_none"))
    if spent is not None:
        yield Sign.ROW_REMAP_BANKS_EXHAUSTED, spent > 0
    single = whole(gpu.read("retired_pages/multiple_single_bit_retirement/retired_count"))
    double = whole(gpu.read("retired_pages/double_bit_retirement/retired_count"))
    if single is not None or double is not None:
        yield Sign.RETIRED_PAGES_EXHAUSTED, (single or 0) + (double or 0) >= EXHAUSTED_PAGES


def _fabric(gpu: Element) -> Iterator[tuple[Sign, bool]]:
    state = _STATES.get(plain(gpu.read("fabric/state")))
    if state is not None:
        yield Sign.FABRIC_NOT_READY, state
    status = plain(gpu.read("fabric/status"))
    if state is False and (status == "unknown error" or status not in _NO_READING):
        yield Sign.FABRIC_FAILED, status != "success"
    summary = plain(gpu.read("fabric/health/summary"))
    if summary in _SUMMARIES:
        unhealthy, degraded = _SUMMARIES[summary]
        yield Sign.FABRIC_UNHEALTHY, unhealthy
        yield Sign.FABRIC_DEGRADED, degraded
    bandwidth = plain(gpu.read("fabric/health/bandwidth"))
    if bandwidth in ("full", "degraded"):
        yield Sign.FABRIC_DEGRADED, bandwidth == "degraded"
    configuration = plain(gpu.read("fabric/health/incorrect_configuration"))
    if configuration not in _NO_READING:
        yield Sign.FABRIC_MISCONFIGURED, configuration != "none"
