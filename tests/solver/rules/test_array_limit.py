from __future__ import annotations

from stowplan.model.reasons import Code
from stowplan.model.snapshot import Snapshot
from tests.build import Document, machine, run, running, snapshot
from tests.solver.cycles import headline, placed, places, starts, told, waits


def _array(**array: object) -> Document:
    return run("a", cpu_cores=1, array=array)


def _elements(snapshot: Snapshot) -> list[int | None]:
    return [worker.element for worker in placed(snapshot, "a").workers]


def test_as_many_elements_run_at_once_as_the_limit_lets() -> None:
    s = snapshot([machine("m")], [_array(size=5, max_parallel=3)])
    assert _elements(s) == [0, 1, 2]
    assert told(placed(s, "a").reason) == (
        Code.ARRAY_LIMIT,
        "runs 3 elements at once, as many as max_parallel allows",
        {"max_parallel": 3, "running": 0, "placed": 3},
    )


def test_a_limit_that_all_elements_keep_says_nothing() -> None:
    s = snapshot([machine("m")], [_array(size=3, max_parallel=3)])
    assert _elements(s) == [0, 1, 2]
    assert placed(s, "a").reason is None


def test_elements_that_run_count() -> None:
    held = running("a", ("m", 0, 1), cpu_cores=1, array={"size": 5, "max_parallel": 3})
    assert _elements(snapshot([machine("m")], [held])) == [0, 2]


def test_elements_that_have_ended_do_not() -> None:
    s = snapshot([machine("m")], [_array(size=5, max_parallel=2, finished=[0, 2])])
    assert _elements(s) == [1, 3]


def test_an_array_that_is_at_its_limit_starts_none() -> None:
    array = {"size": 5, "max_parallel": 2}
    held = running("a", ("m", 0, 0), ("m", 0, 1), cpu_cores=1, array=array)
    assert starts(snapshot([machine("m")], [held])) == set()


def test_an_array_without_a_limit_starts_all_that_fit() -> None:
    s = snapshot([machine("m", cpu_cores=3)], [_array(size=5)])
    assert _elements(s) == [0, 1, 2]
    assert told(placed(s, "a").reason).code == Code.INSUFFICIENT_CPU


def test_the_limit_is_the_arrays_own() -> None:
    arrays = [{**_array(size=2, max_parallel=1), "name": name} for name in "ab"]
    assert places(snapshot([machine("m")], arrays)) == {"a": ["m"], "b": ["m"]}


def test_an_array_that_waits_for_room_says_so_and_not_its_limit() -> None:
    s = snapshot([machine("m", used={"cpu_cores": 64})], [_array(size=3, max_parallel=1)])
    assert headline(s, "a").code == Code.INSUFFICIENT_CPU
    count = waits(s, "a").array
    assert count is not None
    assert (count.running, count.placed, count.waiting) == (0, 0, 3)
