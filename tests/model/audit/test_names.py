from __future__ import annotations

from stowplan.model.audit import audit
from stowplan.model.reasons import Code
from tests.build import broken, decided, machine, run, running, snapshot
from tests.model.audit.bought import market, offering, priced, work

MACHINES = [machine("m", 2), machine("n", 2)]


def test_a_run_goes_to_the_host_it_names() -> None:
    s = snapshot(MACHINES, [run("a", 1, node_selection={"names": ["n"]})])
    assert audit(s, decided(s, {"a": [("n", 1)]})) == ()


def test_a_run_moved_off_the_hosts_it_names_is_refused() -> None:
    s = snapshot(MACHINES, [run("a", 1, node_selection={"names": ["n"]})])
    assert broken(s, decided(s, {"a": [("m", 1)]})) == {"names"}


def test_a_run_that_names_an_unknown_host_goes_nowhere() -> None:
    selection = {"names": ["n", "nowhere"], "mode": "any"}
    s = snapshot(MACHINES, [run("a", 1, node_selection=selection)])
    assert audit(s, decided(s, refused={"a": Code.NOT_SELECTED})) == ()
    assert broken(s, decided(s, {"a": [("n", 1)]})) == {"names"}


def test_an_array_that_runs_starts_nothing_more_while_it_names_an_unknown_host() -> None:
    selection = {"names": ["n", "nowhere"], "mode": "any"}
    array = running("a", ("n", 1, 0), array={"size": 3}, node_selection=selection)
    s = snapshot(MACHINES, [array])
    assert audit(s, decided(s)) == ()
    assert broken(s, decided(s, {"a": [("n", ["n/1"])]})) == {"names"}


def test_a_run_that_names_hosts_buys_none_not_even_one_of_that_name() -> None:
    asked = work("a", node_selection={"names": ["a100#1"]})
    s = market([offering()], [asked])
    assert broken(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == {"names"}
