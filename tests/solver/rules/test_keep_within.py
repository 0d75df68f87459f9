from __future__ import annotations

import pytest

from stowplan.model.reasons import Code
from tests.build import Document, run, running, snapshot
from tests.model.audit.standing import port, stands, two_racks
from tests.solver.cycles import headline, placed, places, row, starts


def kept(unit: str, gpus: int = 16, name: str = "r", **more: Document) -> Document:
    """A run of several workers that is to stay within one such unit."""
    return run(name, gpus, topology={"keep_within": unit, "min_nodes": 2}, **more)


HALF_HELD = [running("x", ("a", 1)), running("y", ("c", 1))]


def test_a_run_stays_within_one_rack() -> None:
    s = snapshot(two_racks(), [running("x", ("a", 1)), kept("rack")])
    assert sorted(places(s)["r"]) == ["c", "d"]


def test_a_run_that_no_rack_has_room_for_waits_though_the_fabric_has() -> None:
    s = snapshot(two_racks(), [*HALF_HELD, kept("rack")])
    assert starts(s) == set()
    told = headline(s, "r")
    assert (told.code, told.numbers["workers"], told.numbers["fit"], told.numbers["best"]) == (
        Code.TOPOLOGY_NO_ROOM, 2, 1, "r1",
    )  # fmt: skip
    free = snapshot(two_racks(), [*HALF_HELD, run("r", 16, topology={})])
    assert sorted(places(free)["r"]) == ["b", "d"]


def test_a_run_stays_within_one_nvlink_domain() -> None:
    machines = [stands(name, domain=name[0], rack="r") for name in ("c1", "d1", "d2")]
    assert sorted(places(snapshot(machines, [kept("nvlink_domain")]))["r"]) == ["d1", "d2"]
    assert starts(snapshot(machines, [kept("nvlink_domain", 24)])) == set()


def test_a_run_stays_within_one_fabric() -> None:
    machines = [stands(name, port(subnet=name[0])) for name in ("n1", "k1", "k2")]
    assert sorted(places(snapshot(machines, [kept("fabric")]))["r"]) == ["k1", "k2"]
    assert starts(snapshot(machines, [kept("fabric", 24)])) == set()


@pytest.mark.parametrize("kind", ["infiniband", "roce"])
def test_a_fabric_that_is_assumed_is_one(kind: str) -> None:
    s = snapshot([stands(name, port(kind)) for name in "ab"], [kept("fabric")])
    assert (placed(s, "r").rung, placed(s, "r").group) == (6, kind)


def test_infiniband_and_roce_that_are_assumed_are_two() -> None:
    machines = [stands("a", port()), stands("b", port("roce"))]
    assert starts(snapshot(machines, [kept("fabric")])) == set()


def test_a_fabric_is_its_label_whatever_the_ports() -> None:
    s = snapshot([stands(name, fabric="f") for name in "ab"], [kept("fabric")])
    assert (placed(s, "r").rung, placed(s, "r").group) == (8, None)


def test_within_one_node_are_workers_that_share_it() -> None:
    topology: Document = {"keep_within": "node"}
    asked = run("r", 4, topology=topology, node_selection={"mode": "any"})
    s = snapshot([stands("a", gpus=2), stands("b", gpus=2)], [asked])
    assert starts(s) == set()
    two = {"count": 2, "mode": "any"}
    asked = run("r", cpu_cores=20, topology=topology, node_selection=two)
    s = snapshot([stands("a", cpu_cores=39), stands("b", cpu_cores=40)], [asked])
    assert places(s) == {"r": ["b", "b"]}


def test_workers_that_never_share_are_never_within_one_node() -> None:
    asked = run("r", {"count": 6, "policy": "per_node"}, topology={"keep_within": "node"})
    assert headline(snapshot([stands(name) for name in "abc"], [asked]), "r").code == (
        Code.TOPOLOGY_NO_ROOM
    )


@pytest.mark.parametrize("unit", ["rack", "fabric", "nvlink_domain"])
def test_a_machine_of_which_it_is_not_known_takes_no_worker(unit: str) -> None:
    where: Document = {"rack": "r", "fabric": "f", "domain": "c"}
    machines = [stands("a", **where), stands("b", **where), stands("bare")]
    s = snapshot(machines, [running("x", ("a", 1)), kept(unit)])
    assert starts(s) == set()
    assert headline(s, "r").code == Code.TOPOLOGY_UNLABELLED
    (told,) = row(s, "r", "bare")
    assert told.numbers == {"rule": "keep_within", "unit": unit}
    s = snapshot([*machines, stands("d", **where)], [running("x", ("a", 1)), kept(unit)])
    assert sorted(places(s)["r"]) == ["b", "d"]


@pytest.mark.parametrize("unit", ["node", "rack", "fabric", "nvlink_domain"])
def test_one_worker_is_within_anything(unit: str) -> None:
    asked = run("r", 8, machines=1, topology={"keep_within": unit})
    assert places(snapshot([stands("bare")], [asked])) == {"r": ["bare"]}


def test_a_rack_of_the_same_name_in_another_site_is_another() -> None:
    machines = [stands("a", rack="r", site="s"), stands("b", rack="r", site="t")]
    assert starts(snapshot(machines, [kept("rack")])) == set()


def test_of_two_runs_each_stays_within_a_rack_of_its_own() -> None:
    s = snapshot(two_racks(), [kept("rack"), kept("rack", name="q")])
    assert sorted(sorted(hosts) for hosts in places(s).values()) == [["a", "b"], ["c", "d"]]
    three = [kept("rack", name=name) for name in "pqr"]
    assert len(starts(snapshot(two_racks(), three))) == 2
