"""Health: what a GPU shows about itself, and whether that keeps work off it.

The table is data: `CLASSES` (signs) and `XID_CLASSES` (driver errors) can be replaced, whole or
in part, by an operator who knows better. Sources disagree about some of them: Xid 109 is reset
the GPU in NVIDIA's catalog and an application's fault in its device plugin; 160 is ignored by
one tool and restarts the machine in another; 63 is best judged by the row remap flags.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from stowplan.model.fleet import Health

EXHAUSTED_PAGES = 63
"""Retired pages, of both causes, at which DCGM fails a card."""


class Sign(StrEnum):
    """One thing that a GPU can show about its health."""

    GPU_LOST = "gpu_lost"
    RESET_REQUIRED = "reset_required"
    RECOVERY_GPU_RESET = "recovery_gpu_reset"
    RECOVERY_NODE_REBOOT = "recovery_node_reboot"
    RECOVERY_BUS_RESET = "recovery_bus_reset"
    RECOVERY_SYSTEM_REBOOT = "recovery_system_reboot"
    ROW_REMAP_FAILURE = "row_remap_failure"
    SRAM_THRESHOLD_EXCEEDED = "sram_threshold_exceeded"
    UNREPAIRABLE_MEMORY = "unrepairable_memory"
    RETIRED_PAGES_EXHAUSTED = "retired_pages_exhausted"
    RETIRED_PAGES_GROWING = "retired_pages_growing"
    """More than 15 for double-bit errors, and more than one of them within a week (as DCGM)."""

    RECOVERY_DRAIN_P2P = "recovery_drain_p2p"
    RECOVERY_DRAIN_AND_RESET = "recovery_drain_and_reset"
    RECOVERY_IMEX_DOMAIN = "recovery_imex_domain"
    RECOVERY_OTHER = "recovery_other"
    """The driver asks for something that `RECOVERY_ACTIONS` doesn't know."""
    ROW_REMAP_PENDING = "row_remap_pending"
    ROW_REMAP_BANKS_EXHAUSTED = "row_remap_banks_exhausted"
    ECC_UNCORRECTABLE_VOLATILE = "ecc_uncorrectable_volatile"
    CHANNEL_REPAIR_PENDING = "channel_repair_pending"
    TPC_REPAIR_PENDING = "tpc_repair_pending"
    RETIRED_PAGES_PENDING = "retired_pages_pending"
    HW_SLOWDOWN = "hw_slowdown"
    HW_THERMAL_SLOWDOWN = "hw_thermal_slowdown"
    HW_POWER_BRAKE = "hw_power_brake"
    FABRIC_NOT_READY = "fabric_not_ready"
    FABRIC_FAILED = "fabric_failed"
    FABRIC_UNHEALTHY = "fabric_unhealthy"
    FABRIC_DEGRADED = "fabric_degraded"
    FABRIC_MISCONFIGURED = "fabric_misconfigured"

    SW_THERMAL_LONG = "sw_thermal_long"
    """Throttled by software for heat for more than ten minutes."""
    NVLINK_DOWN = "nvlink_down"
    NVLINK_ERRORS_GROWING = "nvlink_errors_growing"
    PCIE_REPLAYS_GROWING = "pcie_replays_growing"
    ECC_CORRECTED_GROWING = "ecc_corrected_growing"
    ECC_UNCORRECTABLE_GROWING = "ecc_uncorrectable_growing"
    ROW_REMAPS_GROWING = "row_remaps_growing"


_FAULTS = {
    Sign.GPU_LOST,
    Sign.RESET_REQUIRED,
    Sign.RECOVERY_GPU_RESET,
    Sign.RECOVERY_NODE_REBOOT,
    Sign.RECOVERY_BUS_RESET,
    Sign.RECOVERY_SYSTEM_REBOOT,
    Sign.ROW_REMAP_FAILURE,
    Sign.SRAM_THRESHOLD_EXCEEDED,
    Sign.UNREPAIRABLE_MEMORY,
    Sign.RETIRED_PAGES_EXHAUSTED,
    Sign.RETIRED_PAGES_GROWING,
}

CLASSES: Mapping[Sign, Health] = {
    sign: "faulted" if sign in _FAULTS else "at_risk" for sign in Sign
}
"""What each sign says of the GPU that shows it.

What is faulted only for work on several GPUs (a sick fabric, a link that is down) is at_risk:
one GPU alone still computes. A sign whose name ends in `growing` compares two readings; a
counter read once says nothing, since it counts from the card's first day.
"""

RECOVERY_ACTIONS: Mapping[int, Sign] = {
    1: Sign.RECOVERY_GPU_RESET,
    2: Sign.RECOVERY_NODE_REBOOT,
    3: Sign.RECOVERY_DRAIN_P2P,
    4: Sign.RECOVERY_DRAIN_AND_RESET,
    5: Sign.RECOVERY_IMEX_DOMAIN,
    6: Sign.RECOVERY_BUS_RESET,
    7: Sign.RECOVERY_SYSTEM_REBOOT,
}
"""The driver's own verdict by NVML's numbers (NVML_FI_DEV_GET_GPU_RECOVERY_ACTION); 0 is none."""

VITAL = frozenset({Sign.ROW_REMAP_FAILURE, Sign.ROW_REMAP_PENDING, Sign.ECC_UNCORRECTABLE_VOLATILE})
"""What must have been told, and not show, before a GPU is healthy.

These three say whether its memory fails and whether the repair held. A card that doesn't tell
them (no ECC, or from before row remapping) is unknown: page retirement, the older way, says
what is pending and not that a repair failed, so it doesn't stand in for them.
"""


def _each(*spans: int | tuple[int, int]) -> frozenset[int]:
    return frozenset(
        code
        for span in spans
        for code in (range(span[0], span[1] + 1) if isinstance(span, tuple) else (span,))
    )


_XIDS: Mapping[Health, frozenset[int]] = {
    "healthy": _each(
        *(8, 11, 13, 25, 31, 32, 37, 38, (39, 41), 43, 44, 45, 60, (66, 72), (75, 77), 80),
        *((82, 86), 88, 89, (96, 107), (126, 135), 139, 141, 152, 153, 159),
    ),
    "at_risk": _each(63, 92, 94, 121, 137, 154, 157, (160, 172)),
    "faulted": _each(
        *(46, 48, 54, 62, 64, 74, 78, 79, 95, 109, 110, 119, 120, 136, 140, 143),
        *((144, 151), 155, 156, 158),
    ),
}

XID_CLASSES: Mapping[int, Health] = {
    code: health for health, codes in _XIDS.items() for code in sorted(codes)
}
"""What each Xid says of its GPU; `healthy`: an application's fault. Not here: at_risk.

From NVIDIA's Xid catalog (October 2025), where it and DCGM's fatal set agree; see above where
they don't.
"""

_BAD: tuple[Health, ...] = ("faulted", "at_risk")


@dataclass(frozen=True)
class Verdict:
    """How a GPU is judged, and by what."""

    health: Health
    signs: tuple[str, ...] = ()
    """What it shows that isn't healthy: the worst first, then in the table's order."""
    xid: int | None = None
    """The worst of its Xids, of equal ones the last; none where each is an application's."""


def classify(
    told: Mapping[Sign, bool],
    xids: Iterable[int] = (),
    *,
    classes: Mapping[Sign, Health] = CLASSES,
    xid_classes: Mapping[int, Health] = XID_CLASSES,
) -> Verdict:
    """Return the health of a GPU from the signs it was read for and its Xids, oldest first.

    `told` maps a sign to whether it shows. A sign that isn't there could not be read (absent,
    unsupported): that is neither good nor bad. The worst class among what shows is the health.
    Where nothing shows, the GPU is healthy if every `VITAL` sign was told, else unknown.
    """
    shows = [(classes.get(sign, CLASSES[sign]), sign.value) for sign in Sign if told.get(sign)]
    errors = [(xid_class(code, xid_classes), code) for code in xids]
    found = shows + [(health, f"xid_{code}") for health, code in errors]
    bad = [health for health in _BAD if any(health == how for how, _ in found)]
    if not bad:
        return Verdict("unknown" if untold(told) else "healthy")
    names = (name for health in bad for how, name in found if how == health)
    serious = [code for health in reversed(bad) for how, code in errors if how == health]
    return Verdict(bad[0], tuple(dict.fromkeys(names)), serious[-1] if serious else None)


def untold(told: Mapping[Sign, bool]) -> tuple[Sign, ...]:
    """Return the vital signs that weren't read, in the table's order."""
    return tuple(sign for sign in Sign if sign in VITAL and sign not in told)


def xid_class(code: int, classes: Mapping[int, Health] = XID_CLASSES) -> Health:
    """Return what an Xid says of its GPU; at_risk where no table has it, as NVIDIA advises."""
    return classes.get(code, XID_CLASSES.get(code, "at_risk"))
