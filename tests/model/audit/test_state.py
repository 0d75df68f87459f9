from __future__ import annotations

import pytest

from stowplan.model.audit import audit
from stowplan.model.decision import PlacedRun
from tests.build import altered, broken, decided, machine, resolved, run, snapshot
from tests.model.audit.bought import by_rate, market, offering, priced, work


def test_a_machine_that_is_up_takes_a_worker() -> None:
    s = snapshot([machine("m", 1)], [run("a", 1)])
    assert audit(s, decided(s, {"a": [("m", 1)]})) == ()


def test_a_machine_that_is_down_takes_nothing() -> None:
    s = snapshot([machine("m", 1, state="down")], [run("a", 1)])
    assert broken(s, decided(s, {"a": [("m", 1)]})) == {"state"}


def test_a_machine_without_any_capacity_takes_nothing() -> None:
    s = snapshot([machine("m", cpu_cores=0, memory_bytes=0)], [run("a")])
    assert broken(s, decided(s, {"a": [("m", 0)]})) == {"state"}


def test_a_machine_with_gpus_alone_has_capacity() -> None:
    s = snapshot([machine("m", 1, cpu_cores=0, memory_bytes=0)], [run("a", 1)])
    assert audit(s, decided(s, {"a": [("m", 1)]})) == ()


def test_a_host_that_the_fleet_lacks_takes_nothing() -> None:
    s = snapshot([machine("m", 1)], [run("a")])
    assert broken(s, decided(s, {"a": [("elsewhere", 0)]})) == {"state"}


def test_a_worker_said_to_be_on_an_offering_is_not_on_a_machine() -> None:
    s = snapshot([machine("m")], [run("a")])
    decision = decided(s, {"a": [("m", 0)]})
    [placed] = decision.outcomes
    bought = [worker.model_copy(update={"kind": "offering"}) for worker in placed.workers]  # type: ignore[union-attr]  # it is placed
    assert broken(s, altered(s, decision, "a", workers=tuple(bought))) == {"state"}


def test_the_violation_names_run_and_host() -> None:
    s = snapshot([machine("m", state="down")], [run("a")])
    [violation] = audit(s, decided(s, {"a": [("m", 0)]}))
    assert (violation.run, violation.host) == ("a", "m")
    assert str(violation) == "state: a on m: the machine is down"


def test_what_is_bought_is_an_instance_of_an_offering() -> None:
    s = market([offering()], [work("a")])
    assert broken(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == set()


@pytest.mark.parametrize(
    "host", ["a100", "h100#1", "a100#0", "a100#01", "a100#-1", "a100#x", "a100#", "a100# 1", "#1"]
)
def test_what_no_instance_is_called_can_not_be_bought(host: str) -> None:
    s = market([offering()], [work("a")])
    assert broken(s, priced(s, {"a": [(host, 1)]})) == {"state"}


def test_a_machine_of_an_instance_s_name_is_no_instance() -> None:
    s = market([offering()], [work("a")], [machine("a100#1", 1)])
    values = {"a": by_rate("3.60")}
    assert broken(s, priced(s, {"a": [("a100#2", 1)]}, "3.60", values=values)) == set()
    [placed] = priced(s, {"a": [("a100#1", 1)]}, values={"a": by_rate("0")}).outcomes
    assert isinstance(placed, PlacedRun)
    bought = placed.workers[0].model_copy(update={"kind": "offering"})
    wrong = placed.model_copy(update={"workers": (bought,)})
    assert broken(s, resolved(s, [wrong])) == {"state"}


def test_an_instance_is_told_to_be_bought() -> None:
    s = market([offering()], [work("a")])
    [placed] = priced(s, {"a": [("a100#1", 1)]}).outcomes
    assert isinstance(placed, PlacedRun)
    there = placed.workers[0].model_copy(update={"kind": "machine"})
    assert broken(s, resolved(s, [placed.model_copy(update={"workers": (there,)})])) == {"state"}


def test_an_offering_that_states_nothing_takes_runs_that_ask_nothing() -> None:
    bare = offering("bare", gpus=0, cpu_cores=0, memory_bytes=0)
    s = market([bare], [work("a", 0)])
    assert audit(s, priced(s, {"a": [("bare#1", 0)]}, "3.60")) == ()
