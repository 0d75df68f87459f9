from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.adapters.smi_reads import DTDS, cards, dtds, found, in_a_folder, only, read, read_text
from tests.adapters.smi_xml import (
    LOST,
    NEEDS_RESET,
    NO_READINGS,
    Card,
    Dtd,
    Fabric,
    Process,
    Remap,
    Retired,
    as_told,
    report,
)


def signs_by_the_table(card: Card) -> tuple[set[str], set[str]]:
    """Return the faults and the risks that the card has, by the table in plain words."""
    faults = {
        "gpu_lost": card.marker == LOST,
        "reset_required": card.marker == NEEDS_RESET or card.reset_required == "Yes",
        "recovery_gpu_reset": card.recovery == "Reset",
        "recovery_node_reboot": card.recovery == "Reboot",
        "recovery_bus_reset": card.recovery == "Bus Reset",
        "recovery_system_reboot": card.recovery == "System Reboot",
        "retired_pages_exhausted": card.retired is not None
        and card.retired.single + card.retired.double >= 63,
    }
    risks = {
        "recovery_drain_p2p": card.recovery == "Drain P2P",
        "recovery_drain_and_reset": card.recovery == "Drain and Reset"
        or card.drain_recommended == "Yes",
        "recovery_imex_domain": card.recovery == "Recover IMEX Domain",
        "recovery_other": card.recovery == "Drain the Lake",
        "retired_pages_pending": card.retired is not None and card.retired.pending,
        "hw_slowdown": "hw_slowdown" in card.events,
        "hw_thermal_slowdown": "hw_thermal_slowdown" in card.events,
        "hw_power_brake": "hw_power_brake_slowdown" in card.events,
    }
    if card.marker is None:  # otherwise it stands in place of these
        faults |= {
            "row_remap_failure": card.remap is not None and card.remap.failure,
            "sram_threshold_exceeded": bool(card.sram_exceeded),
            "unrepairable_memory": bool(card.unrepairable),
        }
        risks |= {
            "row_remap_pending": card.remap is not None and card.remap.pending,
            "row_remap_banks_exhausted": card.remap is not None and card.remap.banks_spent > 0,
            "ecc_uncorrectable_volatile": bool(card.uncorrectable),
            "channel_repair_pending": bool(card.channel_repair),
            "tpc_repair_pending": bool(card.tpc_repair),
        }
    if card.fabric:
        risks |= {
            "fabric_not_ready": card.fabric.state in ("In Progress", "Not Started"),
            "fabric_failed": card.fabric.state == "Completed" and card.fabric.status != "Success",
            "fabric_unhealthy": card.fabric.summary == "Unhealthy" or card.fabric.unhealthy,
            "fabric_degraded": card.fabric.summary == "Limited Capacity"
            or card.fabric.bandwidth == "Degraded"
            or card.fabric.recovering,
            "fabric_misconfigured": card.fabric.configuration == "Incorrect SysGUID",
        }
    return (
        {sign for sign, shows in faults.items() if shows},
        {sign for sign, shows in risks.items() if shows},
    )


@in_a_folder
@given(st.lists(cards, min_size=1, max_size=3, unique_by=lambda card: card.uuid), dtds)
def test_health_is_what_the_table_says_of_what_the_report_tells(
    tmp_path: Path, gpus: list[Card], dtd: Dtd
) -> None:
    (machine,) = read(tmp_path, *gpus, dtd=dtd).machines
    for card, device in zip(gpus, machine.devices, strict=True):
        told = as_told(card, dtd)
        faults, risks = signs_by_the_table(told)
        vital = told.remap is not None and told.uncorrectable is not None
        calm = "healthy" if vital else "unknown"
        assert device.health == ("faulted" if faults else "at_risk" if risks else calm)
        assert set(device.signs) == faults | risks
        assert set(device.signs[: len(faults)]) == faults


@in_a_folder
@given(cards)
def test_the_version_changes_nothing_that_all_versions_tell(tmp_path: Path, card: Card) -> None:
    told = replace(
        as_told(as_told(card, 11), 13),
        fabric=card.fabric and replace(Fabric(), cluster=card.fabric.cluster),
    )
    assert len({only(tmp_path, told, dtd) for dtd in DTDS}) == 1


@pytest.mark.parametrize("nothing", NO_READINGS)
@pytest.mark.parametrize("dtd", DTDS)
def test_a_report_without_readings_is_unknown_never_a_fault(
    tmp_path: Path, dtd: Dtd, nothing: str
) -> None:
    text = re.sub(r">[^<>\n]+</(?!product_name|uuid|total)", f">{nothing}</", report([Card()], dtd))
    (machine,) = read_text(tmp_path, text).machines
    assert [(device.health, device.signs) for device in machine.devices] == [("unknown", ())]


def test_a_report_with_bare_gpus_is_unknown(tmp_path: Path) -> None:
    imported = read_text(tmp_path, "<nvidia_smi_log><gpu/><gpu/></nvidia_smi_log>")
    devices = imported.machines[0].devices
    assert [(device.id, device.health) for device in devices] == [
        ("gpu-01/0", "unknown"),
        ("gpu-01/1", "unknown"),
    ]
    assert found(imported, "gpu") == [
        "the health of GPUs 0, 1 is unknown; not reported: row_remap_failure, row_remap_pending, "
        "ecc_uncorrectable_volatile"
    ]


@pytest.mark.parametrize(
    "card",
    [
        Card(events=frozenset({"sw_power_cap", "gpu_idle", "sync_boost"})),
        Card(events=frozenset({"sw_thermal_slowdown"})),
        Card(corrected=12, aggregate=9),
        Card(replays=150),
        Card(remap=Remap(), retired=Retired(single=20, double=14)),
        Card(remap=Remap(), retired=Retired(single=0, double=62)),
        Card(reset_required="Requested functionality has been deprecated"),
        Card(recovery="N/A"),
        Card(recovery="Unknown Error"),
        Card(fabric=Fabric(summary="N/A", bandwidth="N/A", configuration="N/A")),
        Card(processes=(Process(name=LOST, mib=0),)),
    ],
)
@pytest.mark.parametrize("dtd", DTDS)
def test_what_is_no_evidence_leaves_a_gpu_healthy(tmp_path: Path, card: Card, dtd: Dtd) -> None:
    device = only(tmp_path, card, dtd)
    assert (device.health, device.signs) == ("healthy", ())


@pytest.mark.parametrize("tag", ["utilization/gpu_util", "temperature", "clocks/sm_clock"])
@pytest.mark.parametrize("text", ["GPU is lost", "[GPU is lost]", "GPU is lost."])
def test_one_reading_that_says_so_is_a_lost_gpu(tmp_path: Path, tag: str, text: str) -> None:
    tags = tag.split("/")
    opened = "".join(f"<{one}>" for one in tags)
    closed = "".join(f"</{one}>" for one in reversed(tags))
    lost = report([Card()]).replace("<product_name>", f"{opened}{text}{closed}<product_name>")
    (machine,) = read_text(tmp_path, lost).machines
    assert machine.devices[0].signs == ("gpu_lost",)


def test_errors_counted_as_before_turing_are_found(tmp_path: Path) -> None:
    device = only(tmp_path, Card(before_turing=True, uncorrectable=2), 11)
    assert device.signs == ("ecc_uncorrectable_volatile",)
