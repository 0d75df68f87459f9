from __future__ import annotations

from pathlib import Path

import pytest

from stowplan.adapters.nvidia_smi import read_nvidia_smi
from stowplan.model.snapshot import Snapshot
from tests.adapters.smi_reads import found

REAL = Path(__file__).parents[2].parent / "shared/data/inputs/nvidia-smi-xml"
needs_real_reports = pytest.mark.skipif(
    not REAL.is_dir(), reason="the collection of real reports isn't beside this repository"
)
ECC = ("faulted", ("row_remap_failure", "ecc_uncorrectable_volatile"))
WELL: tuple[str, tuple[str, ...]] = ("healthy", ())
GB200 = "00000000-0000-0000-0000-000000000001.0"


@needs_real_reports
@pytest.mark.parametrize(
    ("name", "model", "memory_mib", "power_w", "cliques", "health"),
    [
        ("qx-a100-1x", "NVIDIA A100-SXM4-40GB", 40960, 400, [None], [WELL]),
        (
            "qx-gb200-4x",
            "NVIDIA GB200",
            189471,
            1200,
            ["00000001-0000-0000-0000-000000000001.2"] * 4,
            [WELL] * 4,
        ),
        ("qx-gb200-ecc-injected", "NVIDIA GB200", 196608, 1000, [GB200] * 2, [ECC, WELL]),
        (
            "qx-gb200-lost",
            "NVIDIA GB200",
            196608,
            1000,
            [GB200, None],
            [ECC, ("faulted", ("gpu_lost",))],
        ),
        ("qx-gb200-throttle-counters", "NVIDIA GB200", 196608, 1000, [GB200] * 2, [WELL] * 2),
        ("qx-h100-8x", "NVIDIA H100 80GB HBM3", 81559, 700, [None] * 8, [WELL] * 8),
        ("qx-l40s-1x", "NVIDIA L40S", 46068, 350, [None], [WELL]),
        ("qx-t4-1x", "Tesla T4", 15360, 70, [None], [("unknown", ())]),
        ("telegraf-a100-sxm4-mig-v12", None, None, None, [], []),
    ],
)
def test_a_real_report_gives_what_is_known_of_it(
    name: str,
    model: str | None,
    memory_mib: int | None,
    power_w: int | None,
    cliques: list[str | None],
    health: list[tuple[str, tuple[str, ...]]],
) -> None:
    imported = read_nvidia_smi([REAL / f"{name}.xml"])
    (machine,) = imported.machines
    assert machine.name == name
    assert [device.index for device in machine.devices] == list(range(len(health)))
    assert all(device.id.startswith("GPU-") for device in machine.devices)
    assert {device.model for device in machine.devices} <= {model}
    assert {device.memory_mib for device in machine.devices} <= {memory_mib}
    assert {device.power_limit_w for device in machine.devices} <= {power_w}
    assert {device.used_by_others_mib for device in machine.devices} <= {0}
    assert [device.nvlink_clique for device in machine.devices] == cliques
    assert [(device.health, device.signs) for device in machine.devices] == health
    assert Snapshot.read(imported.document()).fleet.machines == imported.machines


@needs_real_reports
def test_a_real_report_cut_down_to_one_of_four_gpus_in_mig_mode_says_both() -> None:
    imported = read_nvidia_smi([REAL / "telegraf-a100-sxm4-mig-v12.xml"])
    assert "says 4 and 1 are there" in found(imported, "attached_gpus")[0]
    assert "in MIG mode with 4 instances: left out" in found(imported, "gpu[0].mig_mode")[0]


@needs_real_reports
def test_a_real_t4_is_unknown_because_it_has_no_row_remapping() -> None:
    imported = read_nvidia_smi([REAL / "qx-t4-1x.xml"])
    assert found(imported, "gpu") == [
        "the health of GPU 0 is unknown; not reported: row_remap_failure, row_remap_pending"
    ]


@needs_real_reports
def test_all_real_reports_together_are_one_fleet() -> None:
    imported = read_nvidia_smi(sorted(REAL.glob("*.xml")))
    assert sum(len(machine.devices) for machine in imported.machines) == 21
    Snapshot.read(imported.document())
