from __future__ import annotations

from stowplan.model.reasons import Code
from tests.build import machine, run, snapshot
from tests.solver.cycles import blames, headline, places, says, starts

ZONE_A = {"match_labels": {"zone": "a"}}


def test_a_run_goes_where_its_label_is() -> None:
    machines = [
        machine("m", labels={"zone": "b"}),
        machine("n", labels={"zone": "a"}),
        machine("o"),
    ]
    assert places(snapshot(machines, [run("a", node_selection=ZONE_A)])) == {"a": ["n"]}


def test_a_machine_without_the_label_is_refused() -> None:
    s = snapshot([machine("m")], [run("a", node_selection=ZONE_A)])
    assert blames(s, "a", "m") == (
        Code.LABEL_MISSING,
        "without the label zone=a",
        {"missing": ("zone=a",)},
    )


def test_a_machine_with_another_value_is_refused_with_the_value_it_has() -> None:
    s = snapshot([machine("m", labels={"zone": "b"})], [run("a", node_selection=ZONE_A)])
    assert blames(s, "a", "m") == (
        Code.LABEL_MISSING,
        "without the label zone=a (has zone=b)",
        {"missing": ("zone=a",)},
    )


def test_every_label_is_asked_for() -> None:
    both = {"match_labels": {"zone": "a", "disk": "ssd"}}
    there = machine("m", labels={"zone": "a", "disk": "ssd"})
    assert starts(snapshot([there], [run("a", node_selection=both)])) == {"a"}
    s = snapshot([machine("m", labels={"zone": "a"})], [run("a", node_selection=both)])
    assert says(s, "a", "m").numbers == {"missing": ("disk=ssd",)}


def test_labels_that_a_machine_is_reserved_for_are_its_labels_too() -> None:
    s = snapshot([machine("m", reserved_for={"zone": "a"})], [run("a", node_selection=ZONE_A)])
    assert starts(s) == {"a"}


def test_values_differ_in_case() -> None:
    s = snapshot([machine("m", labels={"zone": "A"})], [run("a", node_selection=ZONE_A)])
    assert headline(s, "a").code == Code.LABEL_MISSING
