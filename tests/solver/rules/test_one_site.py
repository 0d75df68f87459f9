from __future__ import annotations

from stowplan.model.reasons import Code
from tests.build import Document, run, running, snapshot
from tests.model.audit.standing import stands
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
        "would span 2 sites: the best has room for 2 of 3 workers",
        {"sites": 2, "workers": 3, "best": 2},
    )


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
