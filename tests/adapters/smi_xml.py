"""Makes `nvidia-smi -q -x` reports of GPUs whose truth is known, as old and new drivers write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Literal
from xml.sax.saxutils import escape

Dtd = Literal[11, 12, 13]
LOST = "GPU is lost"
NEEDS_RESET = "GPU requires reset"
DEPRECATED = "Requested functionality has been deprecated"
NO_READINGS = ("N/A", "[N/A]", "Not Supported", "Unknown Error", "", DEPRECATED)
NO_CLUSTER = "00000000-0000-0000-0000-000000000000"

type Tree = Mapping[str, str | int | Tree | list[Tree]]


@dataclass(frozen=True)
class Remap:
    failure: bool = False
    pending: bool = False
    banks_spent: int = 0


@dataclass(frozen=True)
class Retired:
    single: int = 0
    double: int = 0
    pending: bool = False


@dataclass(frozen=True)
class Fabric:
    cluster: str = NO_CLUSTER
    clique: int = 0
    state: str = "Completed"
    status: str = "Success"
    summary: str = "Healthy"
    bandwidth: str = "Full"
    recovering: bool = False
    unhealthy: bool = False
    configuration: str = "None"


@dataclass(frozen=True)
class Process:
    kind: str = "C"
    mib: int | None = 1000
    name: str = "python"


@dataclass(frozen=True)
class Card:
    """One GPU; None: the card has no such thing. The default one is as well as can be told."""

    uuid: str = "GPU-1"
    model: str = "NVIDIA H100 80GB HBM3"
    memory_mib: int | None = 81559
    used_mib: int | None = 0
    processes: tuple[Process, ...] = ()
    mig: str = "Disabled"
    mig_pending: str = "Disabled"
    instances: int = 0
    marker: str | None = None
    """What nvidia-smi writes in place of any reading of a card that is gone."""
    uncorrectable: int | None = 0
    corrected: int = 0
    aggregate: int = 0
    before_turing: bool = False
    """Its errors are counted as single_bit and double_bit."""
    remap: Remap | None = Remap()
    retired: Retired | None = None
    sram_exceeded: bool | None = False
    unrepairable: bool | None = False
    channel_repair: bool | None = False
    tpc_repair: bool | None = False
    events: frozenset[str] = frozenset()
    recovery: str = "None"
    reset_required: str = "No"
    drain_recommended: str = "No"
    fabric: Fabric | None = None
    replays: int = 0
    power_limit: str = "700.00 W"


def report(
    cards: Sequence[Card],
    dtd: Dtd = 13,
    *,
    attached: int | None = None,
    timestamp: str | None = "Fri Aug 21 08:54:01 2026",
) -> str:
    """Return the report of a host with these GPUs."""
    head: dict[str, str | int] = {} if timestamp is None else {"timestamp": timestamp}
    head |= {
        "driver_version": "1.2.3",
        "attached_gpus": len(cards) if attached is None else attached,
    }
    body = _written(head, 1) + "".join(
        f'\t<gpu id="00000000:{index:02X}:00.0">\n{_written(_tree(card, dtd), 2)}\t</gpu>\n'
        for index, card in enumerate(cards)
    )
    return (
        '<?xml version="1.0" ?>\n'
        f'<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v{dtd}.dtd">\n'
        f"<nvidia_smi_log>\n{body}</nvidia_smi_log>\n"
    )


def write(folder: Path, host: str, cards: Sequence[Card], dtd: Dtd = 13) -> Path:
    """Return the file of a host's report, written to a folder."""
    path = folder / f"{host}.xml"
    path.write_text(report(cards, dtd), encoding="utf-8")
    return path


def as_told(card: Card, dtd: Dtd) -> Card:
    """Return the card as far as this version's reports have words for it."""
    if dtd == 13:
        return replace(card, reset_required="N/A", drain_recommended="N/A")
    if dtd == 12:
        return replace(card, unrepairable=None)
    fabric = card.fabric and Fabric(
        card.fabric.cluster, card.fabric.clique, card.fabric.state, card.fabric.status
    )
    return replace(
        card,
        unrepairable=None,
        channel_repair=None,
        tpc_repair=None,
        sram_exceeded=None,
        recovery="N/A",
        fabric=fabric,
    )


def random_card(random: Random) -> Card:
    """Return a GPU that is well, or not, in one or several ways."""

    def rarely() -> bool:
        return random.random() < 0.06

    def perhaps(value: bool) -> bool | None:
        return None if random.random() < 0.2 else value

    ecc = random.random() < 0.8
    fabric = Fabric(
        cluster=random.choice([NO_CLUSTER, "5b1f0000-0000-0000-0000-0000000000aa"]),
        clique=random.randrange(4),
        state=random.choice(["Completed"] * 9 + ["In Progress", "Not Started", "N/A"]),
        status=random.choice(["Success"] * 9 + ["Insufficient Resources"]),
        summary=random.choice(["Healthy"] * 7 + ["N/A", "Unhealthy", "Limited Capacity"]),
        bandwidth=random.choice(["Full"] * 8 + ["N/A", "Degraded"]),
        recovering=rarely(),
        unhealthy=rarely(),
        configuration=random.choice(["None"] * 8 + ["N/A", "Incorrect SysGUID"]),
    )
    return Card(
        uuid=f"GPU-{random.getrandbits(64):016x}",
        model=random.choice(["NVIDIA H100 80GB HBM3", "NVIDIA L40S", "Tesla V100-SXM2-16GB"]),
        memory_mib=random.choice([16384, 46068, 81559]),
        used_mib=random.randrange(400),
        marker=random.choice([None] * 18 + [LOST, NEEDS_RESET]),
        uncorrectable=(random.randrange(1, 9) if rarely() else 0) if ecc else None,
        corrected=random.randrange(3),
        aggregate=random.randrange(3),
        before_turing=rarely(),
        remap=Remap(rarely(), rarely(), random.choice([0] * 18 + [2])) if ecc else None,
        retired=random.choice(
            [
                None,
                None,
                None,
                Retired(),
                Retired(4, 2),
                Retired(9, 15),
                Retired(60, 3),
                Retired(1, 0, True),
            ]
        ),
        sram_exceeded=perhaps(rarely()),
        unrepairable=perhaps(rarely()),
        channel_repair=perhaps(rarely()),
        tpc_repair=perhaps(rarely()),
        events=frozenset(event for event in EVENTS if random.random() < 0.04),
        recovery=random.choice(["None"] * 14 + ["N/A", *ACTIONS]),
        reset_required=random.choice(["No"] * 14 + ["Yes", DEPRECATED]),
        drain_recommended=random.choice(["No"] * 14 + ["Yes", DEPRECATED]),
        fabric=random.choice([None, fabric]),
        replays=random.randrange(200),
    )


EVENTS = (
    *("gpu_idle", "applications_clocks_setting", "sw_power_cap", "hw_slowdown"),
    *("hw_thermal_slowdown", "hw_power_brake_slowdown", "sync_boost", "sw_thermal_slowdown"),
    "display_clocks_setting",
)
ACTIONS = (
    *("Reset", "Reboot", "Drain P2P", "Drain and Reset", "Recover IMEX Domain", "Bus Reset"),
    *("System Reboot", "Drain the Lake"),
)


def _tree(card: Card, dtd: Dtd) -> Tree:
    block, event = (
        ("clocks_throttle_reasons", "clocks_throttle_reason_")
        if dtd == 11
        else ("clocks_event_reasons", "clocks_event_reason_")
    )
    limit = (
        {"power_readings": {"power_limit": "999.00 W", "enforced_power_limit": card.power_limit}}
        if dtd == 11
        else {"gpu_power_readings": {"current_power_limit": card.power_limit}}
    )
    memory = {"total": _mib(card.memory_mib), "used": _mib(card.used_mib)}
    tree: dict[str, str | int | Tree | list[Tree]] = {
        "product_name": card.model,
        "mig_mode": {"current_mig": card.mig, "pending_mig": card.mig_pending},
        "mig_devices": (
            {"mig_device": [{"index": index} for index in range(card.instances)]}
            if card.instances
            else "None"
        ),
        "uuid": card.uuid,
        **({} if dtd == 11 else {"gpu_recovery_action": card.recovery}),
        **({} if dtd == 13 else {"gpu_reset_status": _reset(card)}),
        "pci": {"replay_counter": card.replays},
        block: {event + name: "Active" if name in card.events else "Not Active" for name in EVENTS},
        "fb_memory_usage": memory if dtd == 11 else memory | {"reserved": "500 MiB"},
        "ecc_errors": _errors(card, dtd),
        "retired_pages": _retired(card.retired, dtd),
        "remapped_rows": _remapped(card.remap),
        **limit,
        "fabric": _fabric(card.fabric, dtd),
        "supported_clocks": {"supported_mem_clock": {"value": "405 MHz"}},
    }
    if card.marker:
        gone = {"fb_memory_usage", "ecc_errors", "remapped_rows"}
        tree |= dict.fromkeys(gone, card.marker)
    listed: list[Tree] = [
        {"pid": 7, "type": one.kind, "process_name": one.name, "used_memory": _mib(one.mib)}
        for one in card.processes
    ]
    return tree | {"processes": {"process_info": listed}}


def _reset(card: Card) -> Tree:
    return {
        "reset_required": card.reset_required,
        "drain_and_reset_recommended": card.drain_recommended,
    }


def _errors(card: Card, dtd: Dtd) -> Tree:
    def counts(uncorrectable: int | None) -> Tree:
        corrected = "N/A" if uncorrectable is None else card.corrected
        bad = "N/A" if uncorrectable is None else uncorrectable
        if card.before_turing:
            single: Tree = {"device_memory": corrected, "total": corrected}
            return {"single_bit": single, "double_bit": {"device_memory": bad, "total": bad}}
        sram = (
            {"sram_uncorrectable": "N/A" if uncorrectable is None else 0}
            if dtd == 11
            else {"sram_uncorrectable_parity": "N/A", "sram_uncorrectable_secded": "N/A"}
        )
        return {"dram_correctable": corrected, "dram_uncorrectable": bad} | sram

    volatile, aggregate = counts(card.uncorrectable), counts(card.aggregate)
    if dtd == 11:
        return {"volatile": volatile, "aggregate": aggregate}
    exceeded = {"sram_threshold_exceeded": _answer(card.sram_exceeded)}
    repairs: dict[str, str] = {
        "channel_repair_pending": _answer(card.channel_repair),
        "tpc_repair_pending": _answer(card.tpc_repair),
    }
    if dtd == 13:
        repairs["unrepairable_memory"] = _answer(card.unrepairable)
    return {"volatile": volatile, "aggregate": {**aggregate, **exceeded}, **repairs}


def _retired(retired: Retired | None, dtd: Dtd) -> Tree:
    single = "N/A" if retired is None else retired.single
    double = "N/A" if retired is None else retired.double
    pending = _answer(None if retired is None else retired.pending)
    return {
        "multiple_single_bit_retirement": {"retired_count": single},
        "double_bit_retirement": {"retired_count": double},
        "pending_blacklist" if dtd == 11 else "pending_retirement": pending,
    }


def _remapped(remap: Remap | None) -> str | Tree:
    if remap is None:
        return "N/A"
    return {
        "remapped_row_corr": 0,
        "remapped_row_unc": 0,
        "remapped_row_pending": _answer(remap.pending),
        "remapped_row_failure": _answer(remap.failure),
        "row_remapper_histogram": {
            "row_remapper_histogram_max": "640 bank(s)",
            "row_remapper_histogram_none": f"{remap.banks_spent} bank(s)",
        },
    }


def _fabric(fabric: Fabric | None, dtd: Dtd) -> Tree:
    if fabric is None:
        return {"state": "N/A", "status": "N/A", "cliqueId": "N/A", "clusterUuid": "N/A"}
    told: Tree = {
        "state": fabric.state,
        "status": fabric.status,
        "cliqueId": fabric.clique,
        "clusterUuid": fabric.cluster,
    }
    if dtd == 11:
        return told
    health: Tree = {
        "summary": fabric.summary,
        "bandwidth": fabric.bandwidth,
        "route_recovery_in_progress": str(fabric.recovering),
        "route_unhealthy": str(fabric.unhealthy),
        "access_timeout_recovery": "False",
        "incorrect_configuration": fabric.configuration,
    }
    return {**told, "health": health}


def _mib(amount: int | None) -> str:
    return "N/A" if amount is None else f"{amount} MiB"


def _answer(value: bool | None) -> str:
    return "N/A" if value is None else "Yes" if value else "No"


def _written(tree: Tree, depth: int) -> str:
    indent = "\t" * depth
    lines: list[str] = []
    for tag, value in tree.items():
        for one in value if isinstance(value, list) else [value]:
            inside = (
                escape(str(one))
                if isinstance(one, str | int)
                else f"\n{_written(one, depth + 1)}{indent}"
            )
            lines.append(f"{indent}<{tag}>{inside}</{tag}>\n")
    return "".join(lines)
