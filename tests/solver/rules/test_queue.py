from __future__ import annotations

from typing import Any

from stowplan.model.reasons import Code
from stowplan.model.snapshot import Snapshot
from tests.build import Document, after, machine, run, running, snapshot
from tests.solver.cycles import headline, says, starts


def _strict(*runs: Document, gpus: int = 4, **policy: Any) -> Snapshot:
    return snapshot([machine("m", gpus)], runs, policy={"queue": "strict", **policy})


def test_runs_start_in_line() -> None:
    assert starts(_strict(run("a", 1), run("b", 3))) == {"a", "b"}


def test_a_run_waits_for_the_earlier_one_though_it_has_room() -> None:
    s = _strict(running("r", ("m", 2)), run("a", 3), run("b", 2))
    assert starts(s) == set()
    assert headline(s, "b") == (
        Code.QUEUED_BEHIND,
        "there is room, but 'a' is ahead of it in default's queue and waits",
        {"behind": "a", "workspace": "default"},
    )
    assert says(s, "b", "m").code == Code.OK
    assert headline(s, "a").code == Code.INSUFFICIENT_GPUS


def test_the_first_in_line_is_the_one_named() -> None:
    s = _strict(running("r", ("m", 2)), run("a", 3), run("b", 1), run("c", 1))
    assert headline(s, "c").numbers["behind"] == "a"


def test_throughput_lets_the_later_one_go_first() -> None:
    runs = [running("r", ("m", 2)), run("a", 3), run("b", 2)]
    assert starts(snapshot([machine("m", 4)], runs)) == {"b"}


def test_the_line_is_by_priority_then_time_then_name() -> None:
    urgent = run("z", 3, priority=1)
    early = run("y", 3, submitted_at=after(-10))
    for first, second in ((urgent, early), (early, run("a", 3)), (run("a", 3), run("b", 3))):
        assert starts(_strict(second, first)) == {first["name"]}
        s = _strict(running("r", ("m", 2)), second, first, run("zz", 1, submitted_at=after(60)))
        assert headline(s, "zz").numbers["behind"] == first["name"]


def test_a_run_that_could_never_start_holds_nobody() -> None:
    for never in (run("a", 5), run("a", 1, needs=["net"]), run("a", {"ids": ["n/0"]})):
        assert starts(_strict(never, run("b", 1))) == {"b"}


def test_a_run_that_is_larger_than_the_whole_quota_holds_nobody() -> None:
    quota: Document = {"workspaces": [{"name": "default", "gpu_quota": 2}]}
    assert starts(_strict(run("a", 3), run("b", 1), **quota)) == {"b"}
    held = running("r", ("m", 1))
    assert starts(_strict(held, run("a", 2), run("b", 1), **quota)) == set()


def test_a_run_holds_only_its_own_workspace() -> None:
    other = run("b", 2, workspace="vision")
    assert starts(_strict(running("r", ("m", 2)), run("a", 3), other)) == {"b"}


def test_one_element_of_an_earlier_array_is_enough() -> None:
    array = run("a", 1, array={"size": 9, "max_parallel": 1})
    assert "b" in starts(_strict(array, run("b", 1), gpus=2))
    held = running("a", ("m", ["m/0"], 0), array={"size": 9, "max_parallel": 1})
    assert "b" in starts(_strict(held, run("b", 1), gpus=2))


def test_elements_of_a_later_array_wait_too() -> None:
    held = running("r", ("m", 2))
    s = _strict(held, run("a", 3), run("b", 1, array={"size": 2}))
    assert headline(s, "b").code == Code.QUEUED_BEHIND


def test_a_run_that_the_queue_holds_without_room_is_short_of_room() -> None:
    s = _strict(running("r", ("m", 2)), run("a", 4), run("b", 3))
    assert headline(s, "b").code == Code.INSUFFICIENT_GPUS


def test_runs_alike_start_in_line_too() -> None:
    runs = [run(name, 2, submitted_at=after(-index)) for index, name in enumerate("abc")]
    assert starts(_strict(*runs)) == {"b", "c"}
