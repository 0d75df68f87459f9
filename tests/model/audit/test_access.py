from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.audit import audit
from stowplan.model.decision import Access, Decision, PlacedRun
from stowplan.model.snapshot import Snapshot
from tests.build import Document, altered, broken, decided, machine, run, snapshot
from tests.model.audit.bought import by_rate, market, offering, priced, work
from tests.model.audit.standing import port, stands, two_racks

PAIR = [("a", 8), ("b", 8)]
ALL = Access(large_shm=True, unlimited_memlock=True)


def first(decision: Decision) -> tuple[dict[str, str], Access | None]:
    """What the first worker of the first run is told, its GPUs aside, and gets."""
    outcome = decision.outcomes[0]
    assert isinstance(outcome, PlacedRun)
    worker = outcome.workers[0]
    told = {k: v for k, v in worker.environment.items() if not k.startswith("STOWPLAN")}
    return told, worker.access


def changed(s: Snapshot, right: Decision, **fields: Any) -> Decision:
    """The decision with some fields of the first worker changed, its environment added to."""
    outcome = right.outcomes[0]
    assert isinstance(outcome, PlacedRun)
    worker, *others = outcome.workers
    fields["environment"] = {**worker.environment, **fields.get("environment", {})}
    fields["environment"] = {k: v for k, v in fields["environment"].items() if v is not None}
    other = worker.model_copy(update=fields)
    return altered(s, right, outcome.run, workers=(other, *others))


def refused(s: Snapshot, right: Decision, **fields: Any) -> bool:
    return broken(s, changed(s, right, **fields)) == {"access"}


def gang(machines: list[Document], **asked: Any) -> tuple[Snapshot, Decision]:
    """A run of two workers on a and b, as it should be."""
    s = snapshot(machines, [run("x", 16, machines=2, **asked)])
    right = decided(s, {"x": PAIR})
    assert audit(s, right) == ()
    return s, right


def test_a_worker_is_told_its_gpus() -> None:
    s = snapshot([machine("a", 8)], [run("x", 2)])
    right = decided(s, {"x": [("a", 2)]})
    assert audit(s, right) == ()
    assert first(right) == ({}, ALL)
    for wrong in ("a/0", "a/1,a/0", "a/0,a/2", "0,1", None):
        assert refused(s, right, environment={"STOWPLAN_GPU_IDS": wrong})
    for wrong in ("1", "2.0", None):
        assert refused(s, right, environment={"STOWPLAN_GPU_COUNT": wrong})
    assert refused(s, right, environment={"CUDA_VISIBLE_DEVICES": "0,1"})


def test_a_worker_with_gpus_shares_and_locks_memory_and_gets_nothing_else() -> None:
    s = snapshot([stands("a", port())], [run("x", 2)])
    right = decided(s, {"x": [("a", 2)]})
    for wrong in (
        {"large_shm": False},
        {"unlimited_memlock": False},
        {"capabilities": ("IPC_LOCK",)},
        {"rdma_devices": ("mlx5_0",)},
        {"imex_channel": 0},
    ):
        assert refused(s, right, access=ALL.model_copy(update=wrong))
    assert refused(s, right, access=None)
    assert refused(s, right, environment={"NCCL_IB_HCA": "mlx5_0"})
    assert refused(s, right, environment={"NCCL_IB_DISABLE": "1"})


def test_a_worker_without_gpus_is_told_and_given_nothing() -> None:
    s = snapshot([machine("a")], [run("x")])
    right = decided(s, {"x": [("a", 0)]})
    assert audit(s, right) == ()
    assert audit(s, changed(s, right, access=Access())) == ()
    assert refused(s, right, access=ALL)
    assert refused(s, right, environment={"STOWPLAN_GPU_COUNT": "0"})


def test_in_a_domain_across_machines_gpus_share_channel_0() -> None:
    s, right = gang([stands(name, domain="d") for name in "ab"])
    assert first(right) == ({}, ALL.model_copy(update={"imex_channel": 0}))
    assert refused(s, right, access=ALL)
    assert refused(s, right, access=ALL.model_copy(update={"imex_channel": 1}))


def test_on_one_machine_of_a_domain_no_channel_is_given() -> None:
    s = snapshot([stands("a", domain="d")], [run("x", 8)])
    right = decided(s, {"x": [("a", 8)]})
    assert audit(s, right) == ()
    assert refused(s, right, access=ALL.model_copy(update={"imex_channel": 0}))


@pytest.mark.parametrize(
    ("ports", "kind"),
    [
        ([port(), port("roce"), port(state="down"), port()], "mlx5_0,mlx5_3"),
        ([port("roce"), port("roce")], "mlx5_0,mlx5_1"),
    ],
)
def test_on_a_network_workers_get_the_ports_of_it_that_are_up(
    ports: list[Document], kind: str
) -> None:
    s, right = gang([stands(name, *ports, fabric="net") for name in "ab"])
    told, got = first(right)
    assert told == {"NCCL_IB_HCA": kind}
    assert got
    assert got.rdma_devices == tuple(kind.split(","))
    assert refused(s, right, access=got.model_copy(update={"capabilities": ()}))
    for wrong in ((), got.rdma_devices[:1], (*got.rdma_devices, "mlx5_9")):
        assert refused(s, right, access=got.model_copy(update={"rdma_devices": wrong}))
    for other in ("mlx5_0", "mlx5_2", None):
        assert refused(s, right, environment={"NCCL_IB_HCA": other})
    assert refused(s, right, environment={"NCCL_IB_DISABLE": "1"})
    assert audit(s, changed(s, right, environment={"NCCL_IB_HCA": f"={kind}"})) == ()


def test_a_name_is_the_beginning_of_others_unless_it_is_exact() -> None:
    ports = [port(device=f"mlx5_{n}", gbps=400 if n == 1 else 100) for n in range(12)]
    machines = [stands(name, *ports, fabric="net") for name in "ab"]
    s, right = gang(machines, network={"min_gbps": 400})
    assert first(right)[0] == {"NCCL_IB_HCA": "=mlx5_1"}
    assert refused(s, right, environment={"NCCL_IB_HCA": "mlx5_1"})  # also mlx5_10, mlx5_11


def test_ports_too_slow_or_of_another_kind_than_asked_are_left_out() -> None:
    ports = [port(gbps=100), port(gbps=400), port("roce", gbps=400)]
    asked = {"interconnect": "infiniband", "min_gbps": 200}
    s, right = gang([stands(name, *ports, fabric="net") for name in "ab"], network=asked)
    told, got = first(right)
    assert told == {"NCCL_IB_HCA": "mlx5_1"}
    assert got
    for wrong in (("mlx5_0",), ("mlx5_0", "mlx5_1"), ("mlx5_2",)):
        assert refused(s, right, access=got.model_copy(update={"rdma_devices": wrong}))


def test_of_two_networks_it_is_the_one_that_is_as_fast_as_asked() -> None:
    ports = [port(gbps=100), port("roce", gbps=400)]
    machines = [stands(name, *ports, fabric="net") for name in "ab"]
    assert first(gang(machines, network={"min_gbps": 400})[1])[0] == {"NCCL_IB_HCA": "mlx5_1"}
    assert first(gang(machines, network={"min_gbps": 100})[1])[0] == {"NCCL_IB_HCA": "mlx5_0"}


def test_over_ethernet_rdma_is_switched_off() -> None:
    s, right = gang([stands("a", port(), fabric="e"), stands("b", port(), fabric="f")])
    assert first(right) == ({"NCCL_IB_DISABLE": "1"}, ALL)
    assert refused(s, right, environment={"NCCL_IB_DISABLE": None})
    assert refused(s, right, environment={"NCCL_IB_DISABLE": "0"})
    assert refused(s, right, environment={"NCCL_IB_HCA": "mlx5_0"})


def test_on_one_machine_ports_are_given_to_who_asks_for_them() -> None:
    for network in ({"interconnect": "rdma"}, {"interconnect": "infiniband"}, {"min_gbps": 200}):
        s = snapshot([stands("a", port())], [run("x", 8, network=network)])
        right = decided(s, {"x": [("a", 8)]})
        assert audit(s, right) == ()
        told, got = first(right)
        assert told == {"NCCL_IB_HCA": "mlx5_0"}
        assert got
        assert got.rdma_devices == ("mlx5_0",)
        assert refused(s, right, access=ALL)


def test_workers_without_gpus_get_the_ports_of_their_network() -> None:
    s = snapshot(two_racks(), [run("x", machines=2)])
    right = decided(s, {"x": [("a", 0), ("b", 0)]})
    assert audit(s, right) == ()
    assert first(right) == ({}, Access(rdma_devices=("mlx5_0",), capabilities=("IPC_LOCK",)))
    assert refused(s, right, access=None)


def test_elements_of_an_array_are_runs_of_their_own() -> None:
    s = snapshot(two_racks(), [run("x", 8, array={"size": 2})])
    right = decided(s, {"x": PAIR})
    assert audit(s, altered(s, right, "x", rung=None, group=None)) == ()
    assert first(right) == ({}, ALL)


def test_what_is_bought_is_told_its_gpus_and_gets_no_port() -> None:
    s = market([offering()], [work("x", 8)])
    right = priced(s, {"x": [("a100#1", 8)]}, "3.60", values={"x": by_rate("3.60")})
    assert audit(s, right) == ()
    assert first(right) == ({}, ALL)
    rate = right.summary.usd_per_hour
    for wrong in (
        changed(s, right, access=ALL.model_copy(update={"rdma_devices": ("mlx5_0",)})),
        changed(s, right, access=None),
        changed(s, right, environment={"STOWPLAN_GPU_IDS": "0"}),
    ):
        summary = wrong.summary.model_copy(update={"usd_per_hour": rate})
        assert broken(s, wrong.model_copy(update={"summary": summary})) == {"access"}
