from __future__ import annotations

import pytest

from stowplan.model.reasons import Code
from tests.build import Document, run, snapshot
from tests.model.audit.standing import port, stands
from tests.solver.cycles import blames, headline, placed, places, starts


def asks(gbps: float, gpus: int = 8, interconnect: str = "auto") -> Document:
    network = {"min_gbps": gbps, "interconnect": interconnect}
    return run("r", gpus, network=network, topology={})


@pytest.mark.parametrize(
    ("ports", "fastest"),
    [
        ([port(gbps=100)], 100),
        ([port(gbps=100), port("roce", gbps=200)], 200),
        ([port(gbps=400, state="down"), port(gbps=100)], 100),
        ([port("roce", gbps=400)], 400),
    ],
)
def test_the_fastest_port_that_is_up_is_as_fast_as_asked(
    ports: list[Document], fastest: int
) -> None:
    for gbps in (fastest - 0.5, fastest):
        assert starts(snapshot([stands("a", *ports)], [asks(gbps)])) == {"r"}
    s = snapshot([stands("a", *ports)], [asks(fastest + 0.5)])
    assert starts(s) == set()
    assert blames(s, "r", "a") == (
        Code.RDMA_TOO_SLOW,
        f"its ports have {fastest} Gbit/s, {fastest + 0.5:g} asked for",
        {"need": fastest + 0.5, "has": fastest},
    )
    assert headline(s, "r").code == Code.RDMA_TOO_SLOW


def test_where_infiniband_is_asked_for_only_its_ports_count() -> None:
    machines = [stands("a", port(gbps=100), port("roce", gbps=400))]
    assert starts(snapshot(machines, [asks(400)])) == {"r"}
    s = snapshot(machines, [asks(400, interconnect="infiniband")])
    assert blames(s, "r", "a").numbers == {"need": 400, "has": 100}


@pytest.mark.parametrize("ports", [[], [port(state="down")]])
def test_without_a_port_that_is_up_there_is_no_rdma(ports: list[Document]) -> None:
    s = snapshot([stands("a", *ports)], [asks(1)])
    assert (headline(s, "r").code, blames(s, "r", "a").code) == (Code.NO_RDMA, Code.NO_RDMA)


def test_nothing_is_asked_where_the_rate_is_none_or_nothing() -> None:
    for gbps in (None, 0):
        asked = run("r", 8, network={"min_gbps": gbps})
        assert starts(snapshot([stands("a")], [asked])) == {"r"}


def test_every_worker_has_such_a_port() -> None:
    machines = [stands(name, port(gbps=gbps)) for name, gbps in (("a", 400), ("b", 200))]
    s = snapshot(machines, [asks(400, 16)])
    assert starts(s) == set()
    more = [*machines, stands("d", port("roce", gbps=800))]
    assert sorted(places(snapshot(more, [asks(400, 16)]))["r"]) == ["a", "d"]


def crosswise(fabric: str | None = None) -> list[Document]:
    """Return two machines with both kinds of port: on one InfiniBand is fast, on the other RoCE."""
    ib_fast, ib_slow = (400, 100), (100, 400)
    return [
        stands(name, port(gbps=ib), port("roce", gbps=roce), rack="r1", fabric=fabric)
        for name, (ib, roce) in (("a", ib_fast), ("b", ib_slow))
    ]


@pytest.mark.parametrize("fabric", [None, "f"])
@pytest.mark.parametrize("interconnect", ["rdma", "infiniband"])
def test_ports_of_different_kinds_join_no_machines(fabric: str | None, interconnect: str) -> None:
    s = snapshot(crosswise(fabric), [asks(200, 16, interconnect)])
    assert starts(s) == set()
    assert starts(snapshot(crosswise(fabric), [asks(100, 16, interconnect)])) == {"r"}


def test_it_says_that_no_network_is_as_fast() -> None:
    why = headline(snapshot(crosswise("f"), [asks(200, 16, "rdma")]), "r")
    assert why.code == Code.TOPOLOGY_NO_ROOM
    told = "no RDMA network of 200 Gbit/s joins two machines that could take its workers"
    assert why.message == told
    assert why.numbers["rules"] == ("interconnect", "min_gbps")


def test_where_no_network_is_asked_for_they_are_joined_by_ethernet() -> None:
    s = snapshot(crosswise("f"), [asks(200, 16)])
    assert (placed(s, "r").rung, placed(s, "r").group) == (7, "r1")


@pytest.mark.parametrize(("fabric", "group"), [(None, "roce/r1"), ("f", "f/r1")])
def test_the_network_told_is_the_one_that_is_fast_enough(fabric: str | None, group: str) -> None:
    ports = port(gbps=100), port("roce", gbps=400)
    machines = [stands(name, *ports, rack="r1", fabric=fabric) for name in "ab"]
    found = placed(snapshot(machines, [asks(200, 16, "rdma")]), "r")
    assert (found.rung, found.group) == (5, group)
    assert "RoCE" in found.shape.why
    assert all(each.environment["NCCL_IB_HCA"] == "mlx5_1" for each in found.workers)
    (link,) = [each.got for each in found.asked_and_got if each.rule == "interconnect"]
    assert link in found.shape.why
