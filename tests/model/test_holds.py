from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.holds import holding, is_fresh, is_superseded, stay_of
from stowplan.model.reasons import Code
from stowplan.model.snapshot import Snapshot
from tests.build import after, machine, running, snapshot

AGES = [(0, True), (-120, True), (-121, False), (60, True)]


@pytest.mark.parametrize(("seconds", "fresh"), AGES)
def test_a_report_is_fresh_until_it_is_older_than_the_policy_says(
    seconds: int, fresh: bool
) -> None:
    fleet = snapshot([machine("m", reported_at=after(seconds))], [])
    assert is_fresh(fleet.fleet.machines[0], fleet) is fresh


def test_a_machine_without_a_time_has_reported_now() -> None:
    fleet = snapshot([machine("m")], [], policy={"stale_after_s": 0})
    assert is_fresh(fleet.fleet.machines[0], fleet)


def stay(run: dict[str, Any], *machines: dict[str, Any], **fleet: Any) -> tuple[str, Code]:
    whole = snapshot(machines, [run], **fleet)
    found = stay_of(whole.runs[0], whole)
    return found.outcome, found.reason.code


@pytest.mark.parametrize(
    ("change", "host", "outcome", "code"),
    [
        ({}, {}, "kept", Code.OK),
        ({"state": "starting"}, {}, "kept", Code.WORKLOAD_STARTING),
        ({"state": "stopped"}, {}, "withdrawn", Code.WORKLOAD_STOPPED),
        ({}, {"state": "down"}, "held", Code.HARDWARE_STALE),
        ({}, {"reported_at": after(-121)}, "held", Code.HARDWARE_STALE),
        ({}, {"name": "other"}, "held", Code.HARDWARE_STALE),
        ({}, {"devices": []}, "withdrawn", Code.GPU_UNAVAILABLE),
        ({"state": "starting"}, {"devices": []}, "withdrawn", Code.GPU_UNAVAILABLE),
        ({}, {"devices": [], "reported_at": after(-121)}, "held", Code.HARDWARE_STALE),
        ({}, {"state": "draining"}, "kept", Code.OK),
    ],
)
def test_a_run_stays_unless_its_place_is_void(
    change: dict[str, Any], host: dict[str, Any], outcome: str, code: Code
) -> None:
    machines = [{**machine("m", 2), **host}]
    assert stay(running("r", ("m", 1), **change), *machines) == (outcome, code)


@pytest.mark.parametrize(
    ("state", "generation", "superseded"),
    [
        ("starting", 2, True),
        ("starting", 3, False),
        ("starting", None, False),
        ("running", 2, False),
    ],
)
def test_only_a_starting_run_of_an_older_generation_is_superseded(
    state: str, generation: int | None, superseded: bool
) -> None:
    placed = running("r", ("m", 1), state=state, generation=generation)
    whole = snapshot([machine("m", 1)], [placed], generation=3)
    assert is_superseded(whole.runs[0], whole) is superseded
    assert bool(list(holding(whole))) is not superseded
    if superseded:
        assert stay_of(whole.runs[0], whole).reason.code is Code.WORKLOAD_SUPERSEDED


def holders(whole: Snapshot) -> list[tuple[str, str]]:
    return [(run.name, worker.host) for run, worker in holding(whole)]


def test_what_runs_or_starts_holds_and_what_stopped_does_not() -> None:
    whole = snapshot(
        [machine("m", 4)],
        [
            running("runs", ("m", ["m/0"]), ("gone", ["x"])),
            running("starts", ("m", ["m/1"]), state="starting"),
            running("stopped", ("m", ["m/2"]), state="stopped"),
            {"name": "waits"},
        ],
    )
    assert holders(whole) == [("runs", "m"), ("runs", "gone"), ("starts", "m")]


def test_a_vanished_gpu_leaves_the_rest_of_the_place_held() -> None:
    whole = snapshot([machine("m", 1)], [running("r", ("m", ["m/0", "m/7"]))])
    assert stay_of(whole.runs[0], whole).reason.numbers["devices"] == ("m/7",)
    assert holders(whole) == [("r", "m")]
