"""For which shape the reasons of a run are told that is cut as it fits."""

from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.decision import WaitingRun
from stowplan.model.reasons import Code, Reason
from stowplan.solver.cycle import solve
from tests.build import Document, machine, run, snapshot
from tests.model.audit.standing import stands


def reason(hosts: list[Document], gpus: int, **asked: Any) -> Reason:
    """Why the only run waits."""
    more = {each: asked.pop(each) for each in ("policy",) if each in asked}
    wanted = run("x", gpus, **{"topology": {}} | asked)
    [outcome] = solve(snapshot(hosts, [wanted], **more)).outcomes
    assert isinstance(outcome, WaitingRun)
    return outcome.reason


def fleet(*racks: str | None, key: str = "topology/rack") -> list[Document]:
    labels: list[Document] = [{key: rack} if rack else {} for rack in racks]
    return [machine(f"m{at}", 8, labels=own) for at, own in enumerate(labels)]


@pytest.mark.parametrize(
    ("machines", "gpus", "topology"),
    [
        (fleet(None, None), 16, {"keep_within": "rack"}),
        (fleet(None, None), 16, {"spread": "rack"}),
        (fleet(None, None), 16, {"keep_within": "fabric"}),
        (fleet("r1", "r1", key="topology/rak"), 16, {"keep_within": "rack"}),
        (fleet("r1", "r1", None, None), 24, {"keep_within": "rack"}),
    ],
)
def test_machines_without_a_label_are_told_whether_or_not_the_shape_is_open(
    machines: list[Document], gpus: int, topology: Document
) -> None:
    said = reason(machines, gpus, topology=topology)
    assert said.code == Code.TOPOLOGY_UNLABELLED
    assert said == reason(machines, gpus, topology=topology, machines=gpus // 8)


def test_a_prefix_that_no_label_has_leaves_machines_unlabelled() -> None:
    policy = {"topology_prefix": "place/"}
    said = reason(fleet("r1", "r1"), 16, topology={"keep_within": "rack"}, policy=policy)
    assert said.code == Code.TOPOLOGY_UNLABELLED


@pytest.mark.parametrize("state", ["down", "cordoned", "draining"])
@pytest.mark.parametrize("topology", [{}, {"keep_within": "rack"}])
def test_a_machine_that_is_closed_is_told_whether_or_not_the_shape_is_open(
    state: str, topology: Document
) -> None:
    machines = [stands("a", rack="r1"), stands("b", rack="r1", state=state)]
    said = reason(machines, 16, topology=topology)
    assert said.code == f"MACHINE_{state.upper()}"
    assert said == reason(machines, 16, machines=2, topology=topology)
