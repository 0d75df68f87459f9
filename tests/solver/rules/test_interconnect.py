from __future__ import annotations

import pytest

from stowplan.model.reasons import Code
from stowplan.model.snapshot import Snapshot
from tests.build import Document, run, running, snapshot
from tests.model.audit.standing import port, stands
from tests.solver.cycles import blames, headline, placed, places, starts

IB, ROCE, DOWN = port(), port("roce"), port(state="down")
N = port(subnet="n")


def asks(interconnect: str, gpus: int = 16, **more: int) -> Document:
    return run("r", gpus, network={"interconnect": interconnect}, **{"topology": {}, **more})


def pair(*ports: Document, **where: str) -> list[Document]:
    told: Document = dict(where)
    return [stands(name, *ports, **told) for name in "ab"]


@pytest.mark.parametrize(
    ("machines", "allowed"),
    [
        (pair(domain="c"), {"auto", "nvlink"}),
        (pair(N, domain="c"), {"auto", "rdma", "infiniband", "nvlink"}),
        (pair(N, rack="r"), {"auto", "rdma", "infiniband"}),
        (pair(N), {"auto", "rdma", "infiniband"}),
        (pair(IB), {"auto", "rdma", "infiniband"}),
        (pair(IB, rack="r"), {"auto", "rdma", "infiniband"}),
        (pair(ROCE), {"auto", "rdma"}),
        (pair(ROCE, fabric="f", rack="r"), {"auto", "rdma"}),
        (pair(IB, ROCE), {"auto", "rdma", "infiniband"}),
        (pair(DOWN, ROCE), {"auto", "rdma"}),
        (pair(rack="r"), {"auto"}),
        (pair(fabric="f"), {"auto"}),
        (pair(), {"auto"}),
        ([stands("a", N), stands("b", port(subnet="k"))], {"auto"}),
        ([stands("a", IB), stands("b", ROCE)], {"auto"}),
        ([stands("a", IB, ROCE), stands("b", ROCE)], {"auto", "rdma"}),
    ],
)
def test_workers_are_joined_by_no_slower_network_than_the_run_accepts(
    machines: list[Document], allowed: set[str]
) -> None:
    asked = ("auto", "rdma", "infiniband", "nvlink")
    assert {each for each in asked if starts(snapshot(machines, [asks(each)]))} == allowed


@pytest.mark.parametrize(
    ("ports", "allowed"),
    [
        ([], {"auto", "nvlink"}),
        ([DOWN], {"auto", "nvlink"}),
        ([ROCE], {"auto", "nvlink", "rdma"}),
        ([DOWN, IB], {"auto", "nvlink", "rdma", "infiniband"}),
    ],
)
def test_a_single_worker_needs_a_port_of_the_kind_that_is_up(
    ports: list[Document], allowed: set[str]
) -> None:
    asked = ("auto", "rdma", "infiniband", "nvlink")
    s = [snapshot([stands("a", *ports)], [asks(each, 8, machines=1)]) for each in asked]
    assert {each for each, own in zip(asked, s, strict=True) if starts(own)} == allowed


@pytest.mark.parametrize(
    ("ports", "asked", "text"),
    [
        ([], "rdma", "no RDMA port"),
        ([DOWN], "rdma", "no RDMA port is up"),
        ([ROCE], "infiniband", "no InfiniBand port is up"),
        ([], "infiniband", "no InfiniBand port"),
    ],
)
def test_a_host_without_such_a_port_says_so(ports: list[Document], asked: str, text: str) -> None:
    s = snapshot([stands("a", *ports)], [asks(asked, 8, machines=1)])
    assert blames(s, "r", "a") == (Code.NO_RDMA, text, {"asked": asked})
    assert headline(s, "r").code == Code.NO_RDMA


def held(s: list[Document], *taken: str) -> list[Document]:
    return [*(running(f"on-{name}", (name, 1)) for name in taken), *s]


def test_a_run_takes_the_larger_network_that_it_accepts_where_the_best_is_held() -> None:
    machines = [stands(name, IB, domain="c" if name in "ab" else "d") for name in "abd"]
    s = snapshot(machines, held([asks("infiniband", machines=2)], "a"))
    assert sorted(places(s)["r"]) == ["b", "d"]
    assert placed(s, "r").rung == 6
    assert starts(snapshot(machines, held([asks("nvlink", machines=2)], "a"))) == set()


def test_a_run_that_no_such_network_has_room_for_waits() -> None:
    machines = [stands("a", N), stands("b", port(subnet="k")), stands("d", port(subnet="k"))]
    s: Snapshot = snapshot(machines, held([asks("infiniband", machines=2)], "d"))
    told = headline(s, "r")
    assert (told.code, told.numbers["workers"], told.numbers["fit"]) == (
        Code.TOPOLOGY_NO_ROOM, 2, 1,
    )  # fmt: skip
    assert len(starts(snapshot(machines, held([asks("auto", machines=2)], "d")))) == 1


def test_workers_without_gpus_climb_the_same_ladder() -> None:
    machines = [stands("a", gpus=0), *(stands(name, IB, gpus=0) for name in "bd")]
    asked = run("r", machines=2, network={"interconnect": "rdma"})
    s = snapshot(machines, [asked])
    assert (sorted(places(s)["r"]), placed(s, "r").rung) == (["b", "d"], 6)
