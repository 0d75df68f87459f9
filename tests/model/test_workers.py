from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from stowplan.model.decision import Access
from stowplan.model.fleet import Interconnect, Machine
from stowplan.model.topology import Fabric, Joint
from stowplan.model.workers import Wiring, equipment, nccl_ports

PORTS = [
    {"device": "mlx5_0", "kind": "infiniband", "rate_gbps": 400},
    {"device": "mlx5_1", "kind": "infiniband", "rate_gbps": 100},
    {"device": "mlx5_2", "kind": "infiniband", "rate_gbps": 400, "state": "down"},
    {"device": "mlx5_3", "kind": "roce", "rate_gbps": 200},
]
GPUS = ("a/0", "a/1")
KINDS: list[list[Interconnect]] = [["infiniband"], ["roce"], ["infiniband", "roce"]]
KNOWS = {"STOWPLAN_GPU_IDS": "a/0,a/1", "STOWPLAN_GPU_COUNT": "2"}


def gets(
    rung: int = 1,
    gpus: tuple[str, ...] = GPUS,
    ports: Sequence[dict[str, Any]] = PORTS,
    **asked: Any,
) -> tuple[dict[str, str], Access | None]:
    """What a worker gets on a machine with these ports; asking for nothing."""
    return equipment(having(*ports), gpus, Wiring(rung, **asked))


def having(*ports: dict[str, Any], name: str = "a") -> Machine:
    return Machine.model_validate({"name": name, "devices": [], "rdma": list(ports)})


def joint(*kinds: Interconnect) -> Joint:
    """What joins machines in one rack on fabrics of these kinds, all called net."""
    fabrics = tuple(Fabric(kind, "net", is_assumed=False) for kind in kinds)
    return Joint(sites=1, site=None, rack="r1", domain=None, fabrics=fabrics, unit="net")


def with_gpus(*ports: str, imex: int | None = None) -> Access:
    return Access(
        imex_channel=imex,
        rdma_devices=ports,
        capabilities=("IPC_LOCK",) if ports else (),
        large_shm=True,
        unlimited_memlock=True,
    )


def test_a_single_worker_knows_its_gpus_and_may_share_and_lock_memory() -> None:
    assert gets() == (KNOWS, with_gpus())


def test_a_single_worker_without_gpus_gets_nothing() -> None:
    assert gets(gpus=()) == ({}, None)


def test_across_machines_of_one_domain_gpus_share_memory_on_channel_0() -> None:
    assert gets(2) == (KNOWS, with_gpus(imex=0))
    assert gets(2, gpus=()) == ({}, None)


def test_a_run_in_one_domain_that_asks_for_rdma_gets_both() -> None:
    ports = ("mlx5_0", "mlx5_1", "mlx5_3")
    told = KNOWS | {"NCCL_IB_HCA": ",".join(ports)}
    assert gets(2, wants_rdma=True) == (told, with_gpus(*ports, imex=0))


@pytest.mark.parametrize("rung", [3, 4, 5, 6])
def test_on_rdma_a_worker_gets_the_ports_that_are_up_of_the_kind_that_joins_them(rung: int) -> None:
    of_kind = {"infiniband": ("mlx5_0", "mlx5_1"), "roce": ("mlx5_3",)}
    for kind, ports in of_kind.items():
        told = KNOWS | {"NCCL_IB_HCA": ",".join(ports)}
        assert gets(rung, kind=kind) == (told, with_gpus(*ports))


def test_ports_that_are_slower_than_asked_are_left_out() -> None:
    asked: dict[str, Any] = {"wants_rdma": True, "kind": "infiniband"}
    told = KNOWS | {"NCCL_IB_HCA": "mlx5_0"}
    assert gets(3, **asked, min_gbps=400) == (told, with_gpus("mlx5_0"))
    assert gets(3, **asked, min_gbps=100.5) == (told, with_gpus("mlx5_0"))
    assert gets(3, **asked, min_gbps=401) == (KNOWS, with_gpus())


def test_a_single_worker_gets_ports_where_it_asks_for_rdma() -> None:
    told = KNOWS | {"NCCL_IB_HCA": "mlx5_0,mlx5_3"}
    assert gets(wants_rdma=True, min_gbps=200) == (told, with_gpus("mlx5_0", "mlx5_3"))


def test_a_worker_without_gpus_gets_ports_and_no_variables() -> None:
    ports = ("mlx5_0", "mlx5_1")
    right = Access(rdma_devices=ports, capabilities=("IPC_LOCK",))
    assert gets(4, gpus=(), kind="infiniband") == ({}, right)
    assert gets(8, gpus=()) == ({}, None)


@pytest.mark.parametrize("rung", [7, 8])
def test_over_ethernet_nccl_is_told_to_use_no_rdma(rung: int) -> None:
    told = KNOWS | {"NCCL_IB_DISABLE": "1"}
    assert gets(rung) == (told, with_gpus())
    fast = gets(rung, wants_rdma=True, min_gbps=400)  # for other uses
    assert fast == (told, with_gpus("mlx5_0"))


def test_nccl_is_told_exact_names_where_one_begins_another() -> None:
    names = [f"mlx5_{n}" for n in range(12)]
    assert nccl_ports(["mlx5_0", "mlx5_1"], names) == "=mlx5_0,mlx5_1"
    assert nccl_ports(["mlx5_0", "mlx5_2"], names) == "mlx5_0,mlx5_2"
    assert nccl_ports(names, names) == ",".join(names)


@pytest.mark.parametrize("asked", [None, "nvlink"])
def test_a_run_on_one_machine_that_asks_for_no_rdma_uses_none(asked: str | None) -> None:
    assert Wiring.of(asked, None) == Wiring()


def test_a_run_that_asks_for_a_network_or_a_speed_uses_ports_on_one_machine_too() -> None:
    assert Wiring.of("rdma", None) == Wiring(wants_rdma=True)
    assert Wiring.of("infiniband", None) == Wiring(wants_rdma=True, kind="infiniband")
    assert Wiring.of(None, 200) == Wiring(wants_rdma=True, min_gbps=200)


def test_a_run_on_a_network_uses_the_ports_of_its_kind() -> None:
    own = [Wiring.of(None, None, joint(*kinds)) for kinds in KINDS]
    assert own == [
        Wiring(3, kind="infiniband"),
        Wiring(5, kind="roce"),
        Wiring(3, kind="infiniband"),
    ]


def test_where_infiniband_is_asked_for_no_roce_port_is_used() -> None:
    assert Wiring.of("infiniband", 400, joint("infiniband", "roce")).kind == "infiniband"
    assert Wiring.of("rdma", 400, joint("roce")) == Wiring(5, True, "roce", 400)
