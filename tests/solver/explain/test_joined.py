from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.decision import Access
from tests.build import Document, after, machine, market, offering, run, running, snapshot
from tests.model.audit.standing import port, stands, two_racks
from tests.solver.cycles import placed


def got(machines: list[Document], asked: Document, *others: Document) -> dict[str, tuple[str, str]]:
    """What the run asked and got, by rule."""
    outcome = placed(snapshot(machines, [asked, *others]), asked["name"])
    return {each.rule: (each.asked, each.got) for each in outcome.asked_and_got}


def gang(gpus: int = 16, **more: Any) -> Document:
    return run("a", gpus, **{"machines": gpus // 8} | more)


DOMAIN = [stands(name, domain="d") for name in "ab"]
ASSUMED = [stands(name, port("roce"), rack="r1") for name in "ab"]
SUBNETS = [stands(name, port(subnet="fe80::1")) for name in "ab"]


@pytest.mark.parametrize(
    ("machines", "within", "told"),
    [
        (two_racks(), "rack", "one rack, r1"),
        (two_racks(), "fabric", "one InfiniBand fabric, ib-0"),
        (SUBNETS, "fabric", "one InfiniBand fabric, fe80::1"),
        (ASSUMED, "fabric", "RoCE, taken as one fabric"),
        ([stands(name, fabric="f") for name in "ab"], "fabric", "one fabric, f"),
        (DOMAIN, "nvlink_domain", "one NVLink domain, d"),
    ],
)
def test_what_a_run_is_kept_within_is_named(
    machines: list[Document], within: str, told: str
) -> None:
    only = machines[:2]
    asked = gang(topology={"keep_within": within})
    assert got(only, asked) == {"keep_within": (within, told)}


def test_a_run_on_one_machine_is_kept_within_it_whatever_it_is_in() -> None:
    for within in ("node", "rack", "fabric", "nvlink_domain"):
        asked = gang(8, topology={"keep_within": within})
        assert got([machine("m", 8)], asked) == {"keep_within": (within, "one machine, m")}


def test_what_a_run_is_spread_over_is_counted_and_named() -> None:
    racks = [stands(f"m{n}", rack=f"r{n}") for n in (1, 2)]
    by_rack = gang(topology={"spread": "rack"})
    assert got(racks, by_rack) == {"spread": ("rack", "2 racks: r1, r2")}
    by_node = gang(topology={"spread": "node"})
    assert got(racks, by_node) == {"spread": ("node", "2 machines: m1, m2")}
    alone = gang(8, topology={"spread": "rack"})
    assert got([machine("m", 8)], alone) == {"spread": ("rack", "1 machine: m")}


@pytest.mark.parametrize(
    ("machines", "asked", "told"),
    [
        (two_racks()[:2], "infiniband", "InfiniBand fabric ib-0"),
        (two_racks()[:2], "rdma", "InfiniBand fabric ib-0"),
        (ASSUMED, "rdma", "RoCE, taken as one fabric"),
        (DOMAIN, "nvlink", "NVLink domain d"),
        ([stands(name, port(), domain="d") for name in "ab"], "rdma", "NVLink domain d"),
    ],
)
def test_the_network_between_a_runs_machines_is_named(
    machines: list[Document], asked: str, told: str
) -> None:
    wanted = gang(network={"interconnect": asked})
    assert got(machines, wanted) == {"interconnect": (asked, told)}


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("rdma", "3 InfiniBand and RoCE ports up on a"),
        ("infiniband", "1 InfiniBand port up on a"),
        ("nvlink", "one machine, a"),
    ],
)
def test_of_a_run_on_one_machine_the_ports_are_told(asked: str, told: str) -> None:
    ports = [port(), port("roce"), port("roce"), port(state="down")]
    wanted = gang(8, network={"interconnect": asked})
    assert got([stands("a", *ports)], wanted) == {"interconnect": (asked, told)}


def test_the_slowest_port_in_use_on_any_machine_is_told() -> None:
    machines = [
        stands("a", port(gbps=400), port(gbps=100), fabric="ib-0"),
        stands("b", port(gbps=400), port(gbps=200), port(gbps=150, state="down"), fabric="ib-0"),
    ]
    told = ("150 Gbit/s", "200 Gbit/s at the slowest port")
    assert got(machines, gang(network={"min_gbps": 150})) == {"min_gbps": told}
    told = ("100 Gbit/s", "100 Gbit/s at the slowest port")
    assert got(machines, gang(network={"min_gbps": 100})) == {"min_gbps": told}


def test_where_only_ethernet_joins_the_machines_the_speed_of_their_ports_is_told_so() -> None:
    machines = [stands("a", port(), fabric="f"), stands("b", port(), fabric="g")]
    told = ("200 Gbit/s", "400 Gbit/s at the slowest port; only Ethernet joins the machines")
    assert got(machines, gang(network={"min_gbps": 200})) == {"min_gbps": told}


def test_bounds_of_the_shape_are_told_with_what_came_of_them() -> None:
    asked = run("a", {"count": 16, "min_per_machine": 4}, topology={"min_nodes": 2, "max_nodes": 4})
    assert got(two_racks(), asked) == {
        "min_nodes": ("2 or more", "2 machines"),
        "max_nodes": ("4 or fewer", "2 machines"),
        "min_per_machine": ("4 or more", "8 GPUs on each"),
    }


def test_patience_is_told_with_the_network_that_it_came_to() -> None:
    still = gang(topology={"patience_s": 60}, submitted_at=after(-59))
    told = "one InfiniBand fabric in one rack (rung 3), the tightest it could get"
    assert got(two_racks()[:2], still) == {"patience": ("60 s", told)}
    over = gang(topology={"patience_s": 3600}, submitted_at=after(-3600))
    apart = [two_racks()[0], *two_racks()[2:]]
    told = "one InfiniBand fabric (rung 4), after its patience"
    others = running("b", ("d", 8))
    assert got(apart, over, others) == {"patience": ("3,600 s", told)}
    alone = gang(8, topology={"patience_s": 60})
    told = "one machine (rung 1), the tightest it could get"
    assert got([machine("m", 8)], alone) == {"patience": ("60 s", told)}


def test_a_run_that_asks_nothing_of_its_machines_together_is_told_nothing() -> None:
    assert got(two_racks(), gang()) == {}


# What its workers get.


def gear(machines: list[Document], asked: Document) -> list[tuple[dict[str, str], Access | None]]:
    workers = placed(snapshot(machines, [asked]), "a").workers
    known = ("STOWPLAN_GPU_IDS", "STOWPLAN_GPU_COUNT")
    return [
        ({key: value for key, value in w.environment.items() if key not in known}, w.access)
        for w in workers
    ]


def test_each_worker_gets_the_ports_of_its_own_machine_on_the_network_they_share() -> None:
    machines = [
        stands("a", port(device="x"), port("roce", device="y"), fabric="ib-0"),
        stands("b", port(device="z"), port(device="down", state="down"), fabric="ib-0"),
    ]
    for (variables, access), device in zip(gear(machines, gang()), "xz", strict=True):
        assert variables == {"NCCL_IB_HCA": device}
        assert access
        assert (access.rdma_devices, access.capabilities) == ((device,), ("IPC_LOCK",))


def test_workers_in_a_domain_share_an_imex_channel_and_those_on_one_machine_none() -> None:
    for variables, access in gear(DOMAIN, gang()):
        assert access
        assert (variables, access.imex_channel) == ({}, 0)
    sharing = run("a", {"count": 8, "policy": None}, node_selection={"mode": "any"})
    [(variables, access)] = gear(DOMAIN[:1], sharing)
    assert access
    assert (variables, access.imex_channel) == ({}, None)


def test_workers_over_ethernet_are_told_to_leave_rdma_alone() -> None:
    apart = [stands("a", port(), fabric="ib-0"), stands("b", port(), fabric="ib-1")]
    for variables, access in gear(apart, gang()):
        assert access
        assert (variables, access.rdma_devices) == ({"NCCL_IB_DISABLE": "1"}, ())


def test_elements_of_an_array_are_runs_of_one_worker() -> None:
    asked = run("a", 8, array={"size": 2})
    for variables, access in gear([stands("a"), stands("b")], asked):
        assert access
        assert (variables, access.large_shm, access.unlimited_memlock) == ({}, True, True)


def test_workers_without_gpus_get_ports_on_a_network_only() -> None:
    machines = [stands(name, port(device="x"), gpus=0, fabric="ib-0") for name in "ab"]
    right = Access(rdma_devices=("x",), capabilities=("IPC_LOCK",))
    assert gear(machines, run("a", machines=2)) == [({}, right)] * 2
    assert gear(machines[:1], run("a")) == [({}, None)]


def bought(*offerings: Document, **more: Any) -> dict[str, tuple[str, str]]:
    """What a run of two workers asked of instances and got, by rule."""
    asked = run("a", 16, **more)
    outcome = placed(market(*offerings, runs=[asked]), "a")
    assert {worker.kind for worker in outcome.workers} == {"offering"}
    return {each.rule: (each.asked, each.got) for each in outcome.asked_and_got}


def in_network(name: str, **more: Any) -> Document:
    network = {"id": "vpc-1", "paths": ["private"]}
    return offering(name, location="us-1a", network=network, region_class="us", **more)


def test_how_near_and_how_joined_instances_are_is_told_where_other_than_usual() -> None:
    pair = in_network("o", available=2)
    assert bought(pair, machines=2) == {}
    direct = bought(pair, machines=2, network={"transport": "direct"})
    assert direct == {"transport": ("direct", "private paths")}
    near = bought(pair, machines=2, network={"scope": "regional"})
    assert near == {"scope": ("regional", "in us-1a, vpc-1")}
    apart = [in_network("o"), in_network("p") | {"location": "us-1b"}]
    wide = bought(*apart, machines=2, network={"scope": "regional"})
    assert wide == {"scope": ("regional", "in region class us")}


def test_of_instances_the_shape_is_told_too() -> None:
    pair = in_network("o", available=2)
    topology = {"min_nodes": 2, "max_nodes": 4, "spread": "node"}
    assert bought(pair, topology=topology) == {
        "spread": ("node", "2 instances: o#1, o#2"),
        "min_nodes": ("2 or more", "2 instances"),
        "max_nodes": ("4 or fewer", "2 instances"),
    }
