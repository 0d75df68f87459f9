from __future__ import annotations

from stowplan.model.audit import audit
from stowplan.model.decision import PlacedRun
from tests.build import altered, broken, card, decided, machine, run, running, snapshot


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
        worker = placed.workers[0].model_copy(update={"devices": ids})
        assert broken(s, altered(s, right, "a", workers=(worker,))) == {"room"}


def test_a_gpu_given_to_a_run_that_asks_for_none_is_refused() -> None:
    s = snapshot([machine("m", 4)], [run("a")])
    right = decided(s, {"a": [("m", 0)]})
    [placed] = right.outcomes
    assert isinstance(placed, PlacedRun)
    worker = placed.workers[0].model_copy(update={"devices": ("m/0",)})
    assert broken(s, altered(s, right, "a", workers=(worker,))) == {"room"}


def test_gpus_of_the_same_id_on_two_machines_are_two_gpus() -> None:
    machines = [machine("m", [card(id="0")]), machine("n", [card(id="0")])]
    s = snapshot(machines, [run("a", 1), run("b", 1)])
    assert audit(s, decided(s, {"a": [("m", ["0"])], "b": [("n", ["0"])]})) == ()


def test_two_runs_that_swap_machines_of_different_sizes_are_refused() -> None:
    s = snapshot([machine("m", 4), machine("n", 1)], [run("a", 4), run("b", 1)])
    assert audit(s, decided(s, {"a": [("m", 4)], "b": [("n", 1)]})) == ()
    assert broken(s, decided(s, {"a": [("n", 4)], "b": [("m", 1)]})) == {"room"}
