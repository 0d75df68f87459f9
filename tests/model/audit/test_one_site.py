from __future__ import annotations

from stowplan.model.audit import audit
from tests.build import altered, broken, decided, machine, run, snapshot
from tests.model.audit.standing import port, stands

MACHINES = [
    stands("a", port(), site="s", fabric="f"),
    stands("b", port(), site="s", fabric="f"),
    stands("c", port(), site="t", fabric="f"),
]


def test_a_run_of_several_workers_is_in_one_site() -> None:
    s = snapshot(MACHINES, [run("x", 16, machines=2), run("y", machines=2)])
    places = {"x": [("a", 8), ("b", 8)], "y": [("a", 0), ("b", 0)]}
    assert audit(s, decided(s, places)) == ()


def test_a_run_that_spans_sites_is_refused_with_or_without_gpus() -> None:
    s = snapshot(MACHINES, [run("x", 16, machines=2), run("y", machines=2)])
    assert broken(s, decided(s, {"x": [("a", 8), ("c", 8)]})) == {"one_site"}
    assert broken(s, decided(s, {"y": [("b", 0), ("c", 0)]})) == {"one_site"}


def test_no_rung_told_makes_it_lawful() -> None:
    s = snapshot(MACHINES, [run("x", 16, machines=2)])
    told = altered(s, decided(s, {"x": [("a", 8), ("c", 8)]}), "x", rung=4, group="f")
    assert broken(s, told) == {"one_site"}


def test_elements_of_an_array_may_be_in_several_sites() -> None:
    s = snapshot(MACHINES, [run("x", 8, array={"size": 2})])
    assert audit(s, decided(s, {"x": [("a", 8), ("c", 8)]})) == ()


def test_machines_that_say_no_site_are_in_one() -> None:
    s = snapshot([machine("m"), machine("n"), machine("o", network="o")], [run("x", machines=2)])
    assert audit(s, decided(s, {"x": [("m", 0), ("n", 0)]})) == ()
    assert broken(s, decided(s, {"x": [("m", 0), ("o", 0)]})) == {"one_site"}
