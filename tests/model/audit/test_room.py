from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.audit import audit
from stowplan.model.decision import PlacedRun
from tests.build import (
    altered,
    broken,
    card,
    decided,
    equipped,
    machine,
    run,
    running,
    snapshot,
)
from tests.model.audit.bought import by_rate, market, offering, priced, work


def test_two_runs_with_gpus_of_their_own_have_room() -> None:
    s = snapshot([machine("m", 4)], [run("a", 1), run("b", 3)])
    assert audit(s, decided(s, {"a": [("m", ["m/3"])], "b": [("m", 3)]})) == ()


def test_a_gpu_given_to_two_runs_is_refused() -> None:
    s = snapshot([machine("m", 4)], [run("a", 1), run("b", 3)])
    assert broken(s, decided(s, {"a": [("m", 1)], "b": [("m", 3)]})) == {"room"}


def test_a_gpu_given_twice_to_one_worker_is_refused() -> None:
    s = snapshot([machine("m", 4)], [run("a", 2)])
    assert broken(s, decided(s, {"a": [("m", ["m/0", "m/0"])]})) == {"room"}


def test_a_gpu_that_a_running_run_holds_is_refused() -> None:
    s = snapshot([machine("m", 4)], [running("a", ("m", 2)), run("b", 2)])
    assert audit(s, decided(s, {"b": [("m", ["m/2", "m/3"])]})) == ()
    assert broken(s, decided(s, {"b": [("m", ["m/1", "m/2"])]})) == {"room"}


def test_a_gpu_of_a_stopped_or_superseded_run_is_free() -> None:
    stopped = running("a", ("m", 2), state="stopped")
    passed = running("b", ("m", ["m/2"]), state="starting", generation=1)
    s = snapshot([machine("m", 4)], [stopped, passed, run("c", 4)], generation=2)
    assert audit(s, decided(s, {"c": [("m", 4)]})) == ()


def test_a_gpu_that_the_machine_lacks_is_refused() -> None:
    s = snapshot([machine("m", 1), machine("n", 1)], [run("a", 1)])
    assert broken(s, decided(s, {"a": [("m", ["n/0"])]})) == {"room"}


def test_a_faulted_gpu_is_refused() -> None:
    s = snapshot([machine("m", [card(health="faulted"), card()])], [run("a", 1)])
    assert audit(s, decided(s, {"a": [("m", ["m/1"])]})) == ()
    assert broken(s, decided(s, {"a": [("m", ["m/0"])]})) == {"room"}


def test_a_gpu_too_few_or_too_many_is_refused() -> None:
    s = snapshot([machine("m", 4)], [run("a", 2)])
    right = decided(s, {"a": [("m", 2)]})
    [placed] = right.outcomes
    assert isinstance(placed, PlacedRun)
    for gpus in (1, 3):
        ids = tuple(f"m/{n}" for n in range(gpus))
        bare = placed.workers[0].model_copy(update={"devices": ids})
        [worker] = equipped(s, s.runs[0], [bare])
        assert broken(s, altered(s, right, "a", workers=(worker,))) == {"room"}


def test_a_gpu_given_to_a_run_that_asks_for_none_is_refused() -> None:
    s = snapshot([machine("m", 4)], [run("a")])
    right = decided(s, {"a": [("m", 0)]})
    [placed] = right.outcomes
    assert isinstance(placed, PlacedRun)
    bare = placed.workers[0].model_copy(update={"devices": ("m/0",)})
    [worker] = equipped(s, s.runs[0], [bare])
    assert broken(s, altered(s, right, "a", workers=(worker,))) == {"room"}


def test_gpus_of_the_same_id_on_two_machines_are_two_gpus() -> None:
    machines = [machine("m", [card(id="0")]), machine("n", [card(id="0")])]
    s = snapshot(machines, [run("a", 1), run("b", 1)])
    assert audit(s, decided(s, {"a": [("m", ["0"])], "b": [("n", ["0"])]})) == ()


def test_two_runs_that_swap_machines_of_different_sizes_are_refused() -> None:
    s = snapshot([machine("m", 4), machine("n", 1)], [run("a", 4), run("b", 1)])
    assert audit(s, decided(s, {"a": [("m", 4)], "b": [("n", 1)]})) == ()
    assert broken(s, decided(s, {"a": [("n", 4)], "b": [("m", 1)]})) == {"room"}


def _buying(host: str, devices: list[str], gpus: int = 2, **more: Any) -> set[str]:
    s = market([offering(**more)], [work("a", gpus)])
    return broken(s, priced(s, {"a": [(host, devices)]}, "3.60"))


def test_an_instance_gives_any_of_its_gpus() -> None:
    assert _buying("a100#1", ["a100#1/0", "a100#1/1"]) == set()
    assert _buying("a100#1", ["a100#1/7", "a100#1/3"]) == set()


@pytest.mark.parametrize(
    "devices",
    [
        ["a100#1/0"],
        ["a100#1/0", "a100#1/1", "a100#1/2"],
        ["a100#1/0", "a100#1/0"],
        ["a100#1/7", "a100#1/8"],
        ["a100#2/0", "a100#2/1"],
        ["0", "1"],
    ],
)
def test_an_instance_gives_as_many_of_its_own_gpus_as_are_asked(devices: list[str]) -> None:
    assert "room" in _buying("a100#1", devices)


def test_an_instance_too_small_for_its_worker_is_refused() -> None:
    assert _buying("a100#1", [f"a100#1/{n}" for n in range(9)], gpus=9) == {"room"}


def test_an_instance_takes_one_worker_whatever_part_of_it_that_needs() -> None:
    s = market([offering(available=2)], [work("a"), work("b")])
    values = dict.fromkeys("ab", by_rate("3.60"))
    apart = {"a": [("a100#1", 1)], "b": [("a100#2", 1)]}
    assert audit(s, priced(s, apart, "7.20", values=values)) == ()
    shared = {"a": [("a100#1", ["a100#1/0"])], "b": [("a100#1", ["a100#1/1"])]}
    assert broken(s, priced(s, shared, "3.60", values=values)) == {"room"}


def test_two_elements_of_an_array_do_not_share_an_instance() -> None:
    s = market([offering(available=2)], [work("a", array={"size": 2})])
    values = {"a": by_rate("3.60")}
    apart = {"a": [("a100#1", 1), ("a100#2", 1)]}
    assert audit(s, priced(s, apart, "7.20", values=values)) == ()
    shared = {"a": [("a100#1", ["a100#1/0"]), ("a100#1", ["a100#1/1"])]}
    assert broken(s, priced(s, shared, "3.60", values=values)) == {"room"}


def test_no_more_instances_start_than_are_available() -> None:
    assert _buying("a100#3", ["a100#3/0", "a100#3/1"], available=3) == set()
    assert _buying("a100#4", ["a100#4/0", "a100#4/1"], available=3) == {"room"}
    assert _buying("a100#1", ["a100#1/0", "a100#1/1"], available=0) == {"room"}


def test_where_nobody_knows_how_many_are_available_the_policy_s_number_counts() -> None:
    for number, rules in ((1, {"room"}), (2, set())):
        policy = {"assumed_available": number}
        s = market([offering(available=None)], [work("a")], policy=policy)
        assert broken(s, priced(s, {"a": [("a100#2", 1)]}, "3.60")) == rules


def test_a_name_that_a_machine_has_is_passed_over() -> None:
    # One can start: as #1 is a machine, it is #2 that will be there.
    s = market([offering()], [work("a")], [machine("a100#1")])
    values = {"a": by_rate("3.60")}
    assert audit(s, priced(s, {"a": [("a100#2", 1)]}, "3.60", values=values)) == ()
    assert broken(s, priced(s, {"a": [("a100#3", 1)]}, "3.60", values=values)) == {"room"}
