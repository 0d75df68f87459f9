"""Real reports of real machines, imported together, with ten runs placed on them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from stowplan.adapters.nvidia_smi import read_nvidia_smi
from stowplan.model.audit import audit
from stowplan.model.decision import PlacedRun, WaitingRun
from stowplan.model.reasons import Code
from stowplan.model.snapshot import Snapshot
from stowplan.solver.cycle import solve

FOLDER = Path(__file__).parents[1] / ".." / "shared" / "data" / "inputs" / "nvidia-smi-xml"

pytestmark = pytest.mark.skipif(
    not FOLDER.exists(), reason="the nvidia-smi reports aren't here (../shared/data/inputs)"
)

REPORTS = ("h100-8x", "gb200-4x", "a100-1x", "t4-1x", "gb200-ecc-injected", "gb200-lost")
"""18 GPUs; of the last two machines' four, three are faulted."""


def _run(name: str, count: int, *models: str, **more: object) -> Mapping[str, object]:
    return {"name": name, "machines": 1, "gpus": {"count": count, "models": models, **more}}


RUNS = (
    _run("pretrain", 4, "H100", min_memory_gb=80, healthy_only=True),
    _run("finetune", 3, "H100"),
    _run("whole-tray", 4, "GB200"),
    _run("one-gb200", 1, "GB200"),
    _run("two-gb200", 2, "GB200"),
    _run("eval", 1, "A100"),
    _run("infer", 1, "T4", healthy_only=True),
    _run("forty", 1, min_memory_gb=40),
    _run("pinned", 1, ids=["qx-gb200-lost/0"]),
    _run("too-big", 8, "A100"),
)


def _snapshot() -> Snapshot:
    paths = [FOLDER / f"qx-{report}.xml" for report in REPORTS]
    fleet = read_nvidia_smi(paths).document()
    # The reports are days apart, and the copies share one made-up UUID: ids are host/index.
    return Snapshot.read({**fleet, "runs": RUNS, "policy": {"stale_after_s": 10**8}})


def test_ten_runs_on_imported_machines_come_out_as_their_gpus_allow() -> None:
    snapshot = _snapshot()
    decision = solve(snapshot)
    assert audit(snapshot, decision) == ()
    where = {
        outcome.run: outcome.workers[0].host
        for outcome in decision.outcomes
        if isinstance(outcome, PlacedRun)
    }
    # 4 + 3 of the eight H100s leave one for "forty": the A100 (40 GB) has its own run, and every
    # sound GB200 too.
    assert {where[name] for name in ("pretrain", "finetune", "forty")} == {"qx-h100-8x"}
    assert where["eval"] == "qx-a100-1x"
    # The tray of four takes the run of four; the only other sound GB200 is the second one of the
    # machine with injected errors: one run of one fits there, and a run of two nowhere.
    assert where["whole-tray"] == "qx-gb200-4x"
    assert where["one-gb200"] == "qx-gb200-ecc-injected"
    # The T4 reports no row remapping: unknown, which shows no sign of failing.
    assert where["infer"] == "qx-t4-1x"
    waiting = {
        outcome.run: outcome.reason
        for outcome in decision.outcomes
        if isinstance(outcome, WaitingRun)
    }
    assert set(waiting) == {"two-gb200", "pinned", "too-big"}
    assert waiting["two-gb200"].code is Code.OUTCOMPETED
    assert waiting["two-gb200"].numbers["runs"] == ("whole-tray",)
    assert waiting["too-big"].code is Code.INSUFFICIENT_GPUS  # one A100 is the most there is


def test_a_faulted_gpu_is_never_given_even_to_a_run_that_pins_it() -> None:
    decision = solve(_snapshot())
    pinned = next(outcome for outcome in decision.outcomes if outcome.run == "pinned")
    assert isinstance(pinned, WaitingRun)
    lost = next(row for row in pinned.hosts if "qx-gb200-lost" in row.hosts)
    assert [reason.code for reason in lost.reasons] == [Code.GPU_FAULTED]
    used = {
        device
        for outcome in decision.outcomes
        if isinstance(outcome, PlacedRun)
        for worker in outcome.workers
        for device in worker.devices
    }
    faulted = {
        device.id
        for machine in _snapshot().fleet.machines
        for device in machine.devices
        if device.health == "faulted"
    }
    assert len(faulted) == 3
    assert used.isdisjoint(faulted)
