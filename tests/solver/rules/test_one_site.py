from __future__ import annotations

import pytest

from stowplan.model.reasons import Code
from tests.build import Document, run, running, snapshot
from tests.model.audit.standing import port, stands
from tests.solver.cycles import headline, placed, places, starts

S = [stands(name, site="s") for name in "ab"]
T = [stands(name, site="t") for name in "cd"]
WIDE: Document = {"topology": {"min_nodes": 2}}


def test_a_run_of_several_workers_is_in_one_site() -> None:
    s = snapshot([*S, *T], [running("x", ("a", 1)), run("r", 16, **WIDE)])
    assert sorted(places(s)["r"]) == ["c", "d"]
    assert (placed(s, "r").rung, placed(s, "r").group) == (8, "t")


def test_a_run_that_only_several_sites_have_room_for_waits_and_says_how_many() -> None:
    s = snapshot([*S, *T], [run("r", 24, **WIDE)])
    assert starts(s) == set()
    assert headline(s, "r") == (
        Code.SITE_SPAN,
        "would span 2 sites, even if they were empty: the best has room for 2 of 3 workers",
        {"sites": 2, "workers": 3, "best": 2, "empty": True},
    )
    taken = snapshot(
        [*S, *T], [running("x", ("a", 8)), running("y", ("c", 8)), run("r", 16, **WIDE)]
    )
    assert headline(taken, "r") == (
        Code.SITE_SPAN,
        "would span 2 sites: the best has room for 1 of 2 workers",
        {"sites": 2, "workers": 2, "best": 1},
    )


@pytest.mark.parametrize(
    ("asked", "joined"),
    [
        ({"topology": {"keep_within": "rack"}}, {"rack": "r"}),
        ({"topology": {"keep_within": "fabric"}}, {"fabric": "f"}),
        ({"topology": {"keep_within": "nvlink_domain"}}, {"domain": "d"}),
        ({"network": {"interconnect": "nvlink"}}, {"domain": "d"}),
    ],
)
def test_what_is_called_the_same_in_two_sites_is_told_to_be_in_two(
    asked: Document, joined: Document
) -> None:
    machines = [stands(name, site=name[0], **joined) for name in ("s1", "s2", "t1", "t2")]
    assert headline(snapshot(machines, [run("r", 24, **{"machines": 3} | asked)]), "r") == (
        Code.SITE_SPAN,
        "would span 2 sites, even if they were empty: the best has room for 2 of 3 workers",
        {"sites": 2, "workers": 3, "best": 2, "empty": True},
    )


@pytest.mark.parametrize("kind", ["infiniband", "roce"])
def test_a_network_of_one_name_in_two_sites_is_told_to_be_in_two(kind: str) -> None:
    names = ("s1", "s2", "t1", "t2")
    machines = [stands(name, port(kind), site=name[0], fabric="f") for name in names]
    asked = {"interconnect": "infiniband" if kind == "infiniband" else "rdma"}
    s = snapshot(machines, [run("r", 24, machines=3, network=asked)])
    assert headline(s, "r").code == Code.SITE_SPAN


def test_a_run_that_neither_a_site_nor_its_racks_could_hold_is_told_so() -> None:
    machines = [stands(name, site=name[0], rack=name) for name in ("s1", "s2", "t1", "t2")]
    s = snapshot(machines, [run("r", 24, machines=3, topology={"keep_within": "rack"})])
    assert headline(s, "r").message == (
        "would span 2 sites, even if they were empty and without keep_within: "
        "the best has room for 2 of 3 workers"
    )


@pytest.mark.parametrize("chosen", [{"names": ["a", "c"]}, {"mode": "all"}])
def test_a_run_that_chose_machines_of_two_sites_is_told_to_choose(chosen: Document) -> None:
    said = headline(snapshot([*S, *T], [run("r", 4, node_selection=chosen)]), "r")
    assert (said.code, said.numbers["rule"]) == (Code.SITE_SPAN, "node_selection")


def test_the_name_of_a_rack_or_a_domain_does_not_join_sites() -> None:
    machines = [stands(name, site=name, rack="r", domain="c", fabric="f") for name in "st"]
    assert headline(snapshot(machines, [run("r", 16, **WIDE)]), "r").code == Code.SITE_SPAN


def test_a_network_is_a_site_where_no_label_tells_one() -> None:
    machines = [stands("a", network="s"), stands("b", network="t")]
    assert starts(snapshot(machines, [run("r", 16, **WIDE)])) == set()
    machines = [stands("a", network="s"), stands("b", network="t", site="s")]
    assert len(places(snapshot(machines, [run("r", 16, **WIDE)]))["r"]) == 2


def test_machines_that_tell_nothing_are_in_one_site_of_their_own() -> None:
    machines = [stands("a"), stands("b"), stands("c", site="s")]
    assert sorted(places(snapshot(machines, [run("r", 16, **WIDE)]))["r"]) == ["a", "b"]
    assert headline(snapshot(machines, [run("r", 24, **WIDE)]), "r").code == Code.SITE_SPAN


def test_elements_of_an_array_and_single_workers_are_in_any_site() -> None:
    s = snapshot([*S, *T], [run("r", 8, array={"size": 4})])
    assert sorted(places(s)["r"]) == ["a", "b", "c", "d"]
