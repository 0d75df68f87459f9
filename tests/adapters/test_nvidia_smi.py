from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from stowplan.adapters.nvidia_smi import read_nvidia_smi
from stowplan.model.snapshot import Snapshot
from tests.adapters.smi_reads import DTDS, cards, dtds, found, in_a_folder, only, read
from tests.adapters.smi_xml import (
    LOST,
    NO_CLUSTER,
    Card,
    Dtd,
    Fabric,
    Process,
    Remap,
    write,
)

# what a host and a device are


def test_a_host_is_named_after_its_file_and_has_its_gpus_in_order(tmp_path: Path) -> None:
    gpus = [Card(uuid=f"GPU-{letter}") for letter in "abc"]
    (machine,) = read_nvidia_smi([write(tmp_path, "node.r1", gpus)]).machines
    assert machine.name == "node.r1"
    assert [(device.id, device.index) for device in machine.devices] == [
        ("GPU-a", 0),
        ("GPU-b", 1),
        ("GPU-c", 2),
    ]
    assert machine.labels == {}
    assert machine.rdma == ()


@pytest.mark.parametrize("dtd", DTDS)
def test_a_device_has_what_the_report_says_in_every_version(tmp_path: Path, dtd: Dtd) -> None:
    fabric = Fabric(cluster="5b1f0000-0000-0000-0000-0000000000aa", clique=3)
    device = only(tmp_path, Card(memory_mib=189471, power_limit="1200.00 W", fabric=fabric), dtd)
    assert device.model == "NVIDIA H100 80GB HBM3"
    assert device.vendor == "nvidia"
    assert device.memory_mib == 189471
    assert device.power_limit_w == 1200
    assert device.nvlink_clique == "5b1f0000-0000-0000-0000-0000000000aa.3"
    assert (device.health, device.signs, device.xid) == ("healthy", (), None)


@pytest.mark.parametrize(
    ("fabric", "clique"),
    [
        (None, None),
        (Fabric(cluster=NO_CLUSTER, clique=0), None),
        (Fabric(cluster=NO_CLUSTER, clique=2), None),
        (Fabric(cluster="N/A"), None),
        (Fabric(cluster="0-1", clique=0), "0-1.0"),
        (Fabric(cluster="c", clique=1, state="In Progress"), None),
        (Fabric(cluster="c", clique=1, status="Insufficient Resources"), None),
    ],
)
def test_a_clique_needs_a_cluster_that_is_not_zero(
    tmp_path: Path, fabric: Fabric | None, clique: str | None
) -> None:
    assert only(tmp_path, Card(fabric=fabric)).nvlink_clique == clique


@pytest.mark.parametrize("limit", ["N/A", "0.00 W", "lots", LOST])
def test_a_power_limit_that_is_no_power_is_none(tmp_path: Path, limit: str) -> None:
    assert only(tmp_path, Card(power_limit=limit)).power_limit_w is None


def test_a_missing_uuid_gives_host_and_index(tmp_path: Path) -> None:
    imported = read(tmp_path, Card(uuid="N/A"), Card(uuid="GPU-2"))
    assert [device.id for device in imported.machines[0].devices] == ["gpu-01/0", "GPU-2"]
    assert "no UUID is reported; its id is gpu-01/0" in found(imported, "gpu[0].uuid")


def test_a_uuid_on_two_hosts_is_nobodys(tmp_path: Path) -> None:
    paths = [write(tmp_path, host, [Card(uuid="GPU-7")]) for host in ("a", "b")]
    imported = read_nvidia_smi(paths)
    ids = [device.id for machine in imported.machines for device in machine.devices]
    assert ids == ["a/0", "b/0"]
    assert len(found(imported, "gpu[0].uuid")) == 2


def test_memory_and_model_that_a_lost_gpu_hides_are_its_likes(tmp_path: Path) -> None:
    gone = Card(uuid=LOST, model=LOST, marker=LOST)
    imported = read(tmp_path, Card(uuid="GPU-1"), gone)
    device = imported.machines[0].devices[1]
    assert (device.id, device.model, device.memory_mib) == ("gpu-01/1", Card.model, 81559)
    assert (device.health, device.signs) == ("faulted", ("gpu_lost",))
    assert found(imported, "gpu[1].product_name")
    assert found(imported, "gpu[1].fb_memory_usage.total")


def test_memory_that_a_lost_gpu_hides_is_not_that_of_another_model(tmp_path: Path) -> None:
    small = Card(uuid="GPU-1", model="NVIDIA L40S", memory_mib=46068)
    imported = read(tmp_path, small, Card(uuid="GPU-2"), Card(uuid="GPU-3", marker=LOST))
    assert [device.memory_mib for device in imported.machines[0].devices] == [46068, 81559, 81559]
    imported = read(tmp_path, small, Card(uuid="GPU-3", marker=LOST))
    assert imported.machines[0].devices[1].memory_mib == 0


def test_memory_that_nothing_tells_is_none_and_said(tmp_path: Path) -> None:
    imported = read(tmp_path, Card(memory_mib=None, model="N/A"))
    (device,) = imported.machines[0].devices
    assert (device.model, device.memory_mib) == ("unknown", 0)
    assert "no memory is reported; taken as 0" in found(imported, "gpu[0].fb_memory_usage.total")


# memory that others use


def used(folder: Path, in_use: int, *processes: Process) -> tuple[int, list[str]]:
    imported = read(folder, Card(used_mib=in_use, processes=processes))
    return imported.machines[0].devices[0].used_by_others_mib, found(imported, "gpu[0].processes")


def test_the_listed_processes_memory_is_used_by_others(tmp_path: Path) -> None:
    held, said = used(tmp_path, 6100, Process("C", 5000), Process("G", 600), Process("C+G", 350))
    assert held == 5950
    assert said == [
        "3 processes hold 5950 MiB, counted as used by others; make used_by_others_mib 0 where "
        "they are runs of yours"
    ]


def test_the_drivers_own_memory_is_not_used_by_others(tmp_path: Path) -> None:
    assert used(tmp_path, 700) == (0, [])


def test_memory_that_no_listed_process_holds_is_used_by_others(tmp_path: Path) -> None:
    held, said = used(tmp_path, 70000, Process("C", 1000))
    assert held == 70000
    assert "70000 MiB are in use and the processes listed account for 1000" in said[0]


def test_a_process_that_hides_its_memory_may_hold_all_that_is_in_use(tmp_path: Path) -> None:
    assert used(tmp_path, 400, Process("C", None))[0] == 400


# MIG


@pytest.mark.parametrize("instances", [0, 4])
def test_a_gpu_in_mig_mode_is_left_out(tmp_path: Path, instances: int) -> None:
    cut = Card(uuid="GPU-1", mig="Enabled", mig_pending="Enabled", instances=instances)
    imported = read(tmp_path, cut, Card(uuid="GPU-2"))
    assert [(device.id, device.index) for device in imported.machines[0].devices] == [("GPU-2", 1)]
    assert f"{instances} instances: left out" in found(imported, "gpu[0].mig_mode")[0]
    assert Snapshot.read(imported.document()).machines["gpu-01"] == imported.machines[0]


def test_mig_that_comes_with_the_next_reset_is_said(tmp_path: Path) -> None:
    imported = read(tmp_path, Card(mig="Disabled", mig_pending="Enabled"))
    assert len(imported.machines[0].devices) == 1
    assert found(imported, "gpu[0].mig_mode.pending_mig")


def test_a_gpu_that_cannot_have_mig_is_whole(tmp_path: Path) -> None:
    assert only(tmp_path, Card(mig="N/A", mig_pending="N/A")).health == "healthy"


# the document


@in_a_folder
@given(st.lists(cards, max_size=3), dtds)
def test_the_document_is_a_snapshot_with_these_machines(
    tmp_path: Path, gpus: list[Card], dtd: Dtd
) -> None:
    imported = read(tmp_path, *gpus, dtd=dtd)
    text = yaml.safe_dump(imported.document(), sort_keys=False)
    for document in (imported.document(), yaml.safe_load(text)):
        snapshot = Snapshot.read(document)
        assert snapshot.fleet.machines == imported.machines
        assert snapshot.now == imported.now
    assert "null" not in text


def test_the_document_leaves_defaults_out(tmp_path: Path) -> None:
    at_risk = Card(uuid="GPU-2", remap=Remap(pending=True), power_limit="N/A")
    assert read(tmp_path, Card(), at_risk).document() == {
        "version": 1,
        "name": "nvidia-smi",
        "now": "2026-08-21T08:54:01Z",
        "fleet": {
            "machines": [
                {
                    "name": "gpu-01",
                    "reported_at": "2026-08-21T08:54:01Z",
                    "devices": [
                        {
                            "id": "GPU-1",
                            "index": 0,
                            "model": "NVIDIA H100 80GB HBM3",
                            "vendor": "nvidia",
                            "memory_mib": 81559,
                            "power_limit_w": 700,
                        },
                        {
                            "id": "GPU-2",
                            "index": 1,
                            "model": "NVIDIA H100 80GB HBM3",
                            "vendor": "nvidia",
                            "memory_mib": 81559,
                            "health": "at_risk",
                            "signs": ["row_remap_pending"],
                        },
                    ],
                }
            ]
        },
    }
