from __future__ import annotations

import pytest

from stowplan.model.reasons import Code
from tests.build import Document, machine, run, snapshot
from tests.model.audit.standing import stands
from tests.solver.cycles import headline, placed, places, row, starts, waits

TWO: Document = {"node_selection": {"count": 2}}


def test_workers_of_a_run_are_on_different_machines() -> None:
    s = snapshot([machine("m"), machine("n")], [run("a", cpu_cores=1, **TWO)])
    assert sorted(places(s)["a"]) == ["m", "n"]


def test_one_machine_is_too_few_for_workers_that_never_share() -> None:
    s = snapshot([machine("m"), machine("n", state="down")], [run("a", cpu_cores=1, **TWO)])
    assert headline(s, "a") == (
        Code.MACHINE_DOWN,
        "needs 2 different machines, and 1 could take a worker; the nearest other, n: down",
        {"workers": 2, "machines": 1},
    )
    assert waits(s, "a").closest is None  # no room would be enough


def test_workers_of_mode_any_share_a_machine() -> None:
    asked = run("a", cpu_cores=32, node_selection={"count": 2, "mode": "any"})
    assert places(snapshot([machine("m")], [asked])) == {"a": ["m", "m"]}


def test_machines_asked_for_are_different_ones_in_mode_any_too() -> None:
    asked = run("a", machines=2, node_selection={"mode": "any"})
    assert headline(snapshot([machine("m")], [asked]), "a").code == Code.SPREAD_CONFLICT
    s = snapshot([machine("m"), machine("n")], [asked])
    assert sorted(places(s)["a"]) == ["m", "n"]


def test_workers_of_other_runs_share_a_machine() -> None:
    runs = [run(name, cpu_cores=1, **TWO) for name in "abc"]
    s = snapshot([machine("m"), machine("n")], runs)
    assert [sorted(hosts) for hosts in places(s).values()] == [["m", "n"]] * 3


def test_elements_of_an_array_share_a_machine() -> None:
    s = snapshot([machine("m")], [run("a", cpu_cores=1, array={"size": 3})])
    assert places(s) == {"a": ["m", "m", "m"]}


def test_a_machine_that_could_hold_many_workers_counts_once() -> None:
    # Room for 64 workers on m and none on n: the second worker has nowhere to go.
    machines = [machine("m"), machine("n", used={"cpu_cores": 64})]
    s = snapshot(machines, [run("a", cpu_cores=1, **TWO)])
    assert headline(s, "a") == (
        Code.INSUFFICIENT_CPU,
        "needs room for 2 workers at once, and 1 fit; the closest, n: needs 1 cores, 0 of 64 free",
        {"workers": 2, "fit": 1, "closest": "n"},
    )


def test_two_runs_that_each_spread_alone_do_not_both_fit() -> None:
    asked: Document = {"cpu_cores": 40, **TWO}
    s = snapshot([machine("m"), machine("n")], [run("a", **asked), run("b", **asked)])
    assert len(starts(s)) == 1
    assert [worker.index for worker in placed(s, next(iter(starts(s)))).workers] == [0, 1]


def _spread(unit: str, workers: int = 2, name: str = "r", **more: Document) -> Document:
    return run(name, 8 * workers, machines=workers, topology={"spread": unit}, **more)


@pytest.mark.parametrize("unit", ["rack", "fabric"])
def test_no_two_workers_are_in_one_rack_or_fabric_where_the_run_says_so(unit: str) -> None:
    machines = [stands(name, rack=name[0], fabric=name[0]) for name in ("p1", "p2", "q1")]
    assert {host[0] for host in places(snapshot(machines, [_spread(unit)]))["r"]} == {"p", "q"}
    s = snapshot(machines, [_spread(unit, 3)])
    assert starts(s) == set()
    told = headline(s, "r")
    assert (told.code, told.numbers["workers"]) == (Code.TOPOLOGY_NO_ROOM, 3)


@pytest.mark.parametrize("unit", ["rack", "fabric"])
def test_a_machine_of_which_it_is_not_known_in_which_it_is_takes_no_worker(unit: str) -> None:
    machines = [stands("a", rack="p", fabric="p"), stands("bare")]
    s = snapshot(machines, [_spread(unit)])
    assert headline(s, "r").code == Code.TOPOLOGY_UNLABELLED
    (told,) = row(s, "r", "bare")
    assert told.numbers == {"rule": "spread", "unit": unit}
    assert starts(snapshot(machines, [_spread(unit, 1)])) == {"r"}


def test_runs_that_spread_over_racks_share_them_with_each_other() -> None:
    machines = [stands(name, rack=name[0]) for name in ("p1", "p2", "q1", "q2")]
    s = snapshot(machines, [_spread("rack", name="r"), _spread("rack", name="s")])
    found = places(s)
    assert {name: {host[0] for host in hosts} for name, hosts in found.items()} == {
        "r": {"p", "q"}, "s": {"p", "q"},
    }  # fmt: skip


def test_three_runs_over_three_racks_are_dealt_out_so_that_each_has_two_racks() -> None:
    # A class of three runs: 3 + 2 + 1 workers over racks p, q and t; none twice in one rack.
    names = ("p1", "p2", "p3", "q1", "q2", "t1")
    machines = [stands(name, rack=name[0]) for name in names]
    found = places(snapshot(machines, [_spread("rack", name=name) for name in "rst"]))
    assert sorted(found) == ["r", "s", "t"]
    assert all(len({host[0] for host in hosts}) == 2 for hosts in found.values())


def test_workers_spread_over_nodes_never_share_in_mode_any() -> None:
    asked = run(
        "r", cpu_cores=1, topology={"spread": "node"}, node_selection={"count": 2, "mode": "any"}
    )
    assert starts(snapshot([machine("m")], [asked])) == set()
    assert sorted(places(snapshot([machine("m"), machine("n")], [asked]))["r"]) == ["m", "n"]


def test_workers_of_one_rack_may_be_asked_to_be_on_several_fabrics() -> None:
    machines = [stands(name, rack="p", fabric=name[0]) for name in ("f1", "f2", "g1")]
    asked = run("r", 16, machines=2, topology={"spread": "fabric", "keep_within": "rack"})
    assert {host[0] for host in places(snapshot(machines, [asked]))["r"]} == {"f", "g"}
