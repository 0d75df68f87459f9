from __future__ import annotations

from stowplan.model.audit import audit
from tests.build import altered, broken, decided, machine, run, running, snapshot
from tests.model.audit.bought import by_rate, market, offering, priced, work

MACHINES = [machine("m", 8)]
SLOTS = [("m", [f"m/{n}"]) for n in range(8)]


def test_an_array_starts_its_lowest_elements() -> None:
    s = snapshot(MACHINES, [run("a", 1, array={"size": 5, "finished": [1]})])
    places = [("m", ["m/0"], 0), ("m", ["m/1"], 2)]
    assert audit(s, decided(s, {"a": places})) == ()


def test_an_array_that_skips_an_element_is_refused() -> None:
    s = snapshot(MACHINES, [run("a", 1, array={"size": 5})])
    assert broken(s, decided(s, {"a": [("m", ["m/0"], 1)]})) == {"array_limit"}


def test_an_element_that_ended_or_runs_is_not_started_again() -> None:
    array = {"size": 5, "finished": [0]}
    s = snapshot(MACHINES, [running("a", ("m", ["m/0"], 1), array=array)])
    assert audit(s, decided(s, {"a": [("m", ["m/1"], 2)]})) == ()
    for element in (0, 1):
        assert broken(s, decided(s, {"a": [("m", ["m/1"], element)]})) == {"array_limit"}


def test_an_element_started_twice_is_refused() -> None:
    s = snapshot(MACHINES, [run("a", 1, array={"size": 5})])
    places = [("m", ["m/0"], 0), ("m", ["m/1"], 0)]
    assert broken(s, decided(s, {"a": places})) == {"array_limit"}


def test_a_worker_that_tells_no_element_is_refused() -> None:
    s = snapshot(MACHINES, [run("a", 1, array={"size": 5})])
    right = decided(s, {"a": SLOTS[:1]})
    [placed] = right.outcomes
    lost = tuple(w.model_copy(update={"element": None}) for w in placed.workers)  # type: ignore[union-attr]  # it is placed
    assert broken(s, altered(s, right, "a", workers=lost)) == {"array_limit"}


def test_an_array_runs_no_more_elements_at_once_than_it_may() -> None:
    s = snapshot(MACHINES, [run("a", 1, array={"size": 5, "max_parallel": 2})])
    assert audit(s, decided(s, {"a": SLOTS[:2]})) == ()
    assert broken(s, decided(s, {"a": SLOTS[:3]})) == {"array_limit"}


def test_elements_that_run_count_towards_its_limit() -> None:
    array = {"size": 5, "max_parallel": 2}
    s = snapshot(MACHINES, [running("a", ("m", ["m/0"], 0), array=array)])
    assert audit(s, decided(s, {"a": SLOTS[1:2]})) == ()
    assert broken(s, decided(s, {"a": SLOTS[1:3]})) == {"array_limit"}


def test_a_run_that_is_no_array_has_no_elements() -> None:
    s = snapshot(MACHINES, [run("a", 1)])
    assert broken(s, decided(s, {"a": [("m", ["m/0"], 0)]})) == {"array_limit"}


def test_a_huge_array_is_audited_without_being_counted_out() -> None:
    s = snapshot(MACHINES, [run("a", 1, array={"size": 3})])
    array = s.runs[0].array
    assert array is not None
    huge = s.runs[0].model_copy(update={"array": array.model_copy(update={"size": 10**12})})
    s = s.model_copy(update={"runs": (huge,)})
    small = snapshot(MACHINES, [run("a", 1, array={"size": 3})])
    assert broken(s, decided(small, {"a": SLOTS[:1]})) == {"outcomes"}


def test_elements_on_what_is_bought_count_as_others() -> None:
    for most, rules in ((2, set()), (1, {"array_limit"})):
        array = work("a", array={"size": 9, "max_parallel": most})
        s = market([offering(available=2)], [array])
        decision = priced(
            s, {"a": [("a100#1", 1), ("a100#2", 1)]}, "7.20", values={"a": by_rate("3.60")}
        )
        assert broken(s, decision) == rules
