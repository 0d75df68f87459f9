"""For which shape the reasons of a run are told that is cut as it fits."""

from __future__ import annotations

from typing import Any

import pytest

from stowplan.cli.render.words import advice
from stowplan.model.decision import WaitingRun
from stowplan.model.reasons import Code, Reason
from stowplan.solver.cycle import solve
from tests.build import Document, machine, run, snapshot
from tests.model.audit.standing import port, stands


def reason(hosts: list[Document], number: int, **asked: Any) -> Reason:
    """Why the only run waits."""
    more = {each: asked.pop(each) for each in ("policy",) if each in asked}
    usual: Document = {"gpus": number, "topology": {}}
    wanted = run("x", **usual | asked)
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


FOURS = [machine(f"m{at}", 4) for at in range(4)]


@pytest.mark.parametrize(
    ("machines", "asked", "rule", "cut"),
    [
        (FOURS, {"topology": {"max_nodes": 2}}, "max_nodes", (4, 4)),
        (FOURS, {"gpus": {"count": 16, "min_per_machine": 8}}, "min_per_machine", (4, 4)),
        (fleet(None, None), {"topology": {"min_nodes": 3}}, "min_nodes", (2, 8)),
        ([machine("m", 6)], {"gpus": {"count": 6, "policy": "per_node"}}, "per_node", (1, 6)),
    ],
)
def test_a_limit_on_the_shape_that_alone_keeps_a_run_out_is_named(
    machines: list[Document], asked: Document, rule: str, cut: tuple[int, int]
) -> None:
    said = reason(machines, 16, **asked)
    assert (said.code, said.numbers["rules"]) == (Code.TOPOLOGY_NO_ROOM, (rule,))
    assert (said.numbers["workers"], said.numbers["gpus"]) == cut
    assert advice(said) == f"relax {rule}"


def test_each_run_is_told_its_own_limit_though_the_same_shapes_are_open() -> None:
    runs = [
        run("x", 16, topology={"max_nodes": 2}),
        run("y", {"count": 16, "min_per_machine": 8}, topology={}),
    ]
    told = {each.run: each.reason for each in solve(snapshot(FOURS, runs)).outcomes}
    rules = {name: why.numbers["rules"] for name, why in told.items() if why}
    assert rules == {"x": ("max_nodes",), "y": ("min_per_machine",)}


def test_no_limit_on_the_shape_is_named_where_the_run_would_not_fit_without_it() -> None:
    said = reason(FOURS, 32, topology={"max_nodes": 2})
    assert said.code == Code.INSUFFICIENT_GPUS


def test_a_network_that_alone_keeps_a_run_out_is_named() -> None:
    joined = [stands(name, port(), fabric="f") for name in "ab"]
    said = reason([*joined, stands("c")], 24, network={"interconnect": "infiniband"})
    assert said.code == Code.NO_RDMA
    assert said.message == (
        "needs 3 different machines, and 2 could take a worker; "
        "the nearest other, c: no InfiniBand port"
    )


@pytest.mark.parametrize(
    ("machines", "gpus", "more", "like"),
    [
        (fleet(*[None] * 4), 40, 1, "m0"),
        (fleet("a", "a", "b", key="topology/site"), 40, 3, "m0"),
        ([machine("x", 4), *fleet(None)], 32, 3, "m0"),
    ],
)
def test_how_many_more_machines_would_hold_a_run_is_told_and_so(
    machines: list[Document], gpus: int, more: int, like: str
) -> None:
    said = reason(machines, gpus)
    assert said.code == Code.INSUFFICIENT_GPUS
    assert (said.numbers["more"], said.numbers["like"], said.numbers["need"]) == (more, like, gpus)
    assert advice(said).startswith(f"ask for less, or add {more} machine")
    model = next(each for each in machines if each["name"] == like)
    added = [model | {"name": f"new{at}"} for at in range(more)]
    for count, outcome in ((more, "placed"), (more - 1, "waiting")):
        wanted = run("x", gpus, topology={})
        [told] = solve(snapshot([*machines, *added[:count]], [wanted])).outcomes
        assert told.outcome == outcome


def test_more_machines_are_not_advised_to_a_run_that_names_its_own() -> None:
    names = {"names": ["m0", "m1"], "mode": "any"}
    said = reason(fleet(None, None), 24, node_selection=names)
    assert "more" not in said.numbers
