from __future__ import annotations

import pytest

from stowplan.model.reasons import Code
from tests.build import Document, run, snapshot
from tests.model.audit.standing import port, stands
from tests.solver.cycles import blames, headline, places, starts


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
