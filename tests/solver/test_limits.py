from __future__ import annotations

from tests.build import Document, machine, run, running, snapshot
from tests.solver.cycles import choices_of


def test_what_is_left_of_a_quota_can_be_less_than_nothing() -> None:
    quotas = {"workspaces": [{"name": "v", "gpu_quota": 1}, {"name": "w", "gpu_quota": 4}]}
    held = running("r", ("m", 3), workspace="v")
    s = snapshot([machine("m", 8)], [held, run("a", 1, workspace="u")], policy=quotas)
    assert choices_of(s).limits.quota_left == {"v": -2, "w": 4}


def test_what_is_left_of_an_array_counts_what_runs() -> None:
    array = {"size": 9, "max_parallel": 3}
    places = [("m", ["m/0"], 0), ("m", ["m/1"], 5)]
    held = running("a", *places, array=array, gpus={"count": 1})
    s = snapshot([machine("m", 8)], [held, run("b", 1, array={"size": 2})])
    assert choices_of(s).limits.parallel_left == {"a": 1}


def _line(*runs: Document, **policy: object) -> list[tuple[str, str]]:
    s = snapshot([machine("m", 4)], runs, policy={"queue": "strict", **policy})
    pairs = choices_of(s).limits.neighbours_in_line
    return [(earlier.runs[0].name, later.runs[0].name) for earlier, later in pairs]


def test_each_run_in_a_strict_line_waits_for_the_one_before() -> None:
    runs = [run("c", 1), run("a", 1), run("b", 2), run("z", 1, priority=1)]
    assert _line(*runs) == [("z", "a"), ("a", "b"), ("b", "c")]


def test_runs_that_could_never_start_are_not_in_line() -> None:
    assert _line(run("a", 1), run("b", 5), run("c", 1)) == [("a", "c")]


def test_an_array_that_runs_waits_in_line_and_holds_nobody() -> None:
    held = running("b", ("m", ["m/0"], 0), array={"size": 9})
    assert _line(run("a", 1), held, run("c", 1)) == [("a", "b"), ("a", "c")]


def test_a_queue_that_is_not_strict_has_no_line() -> None:
    assert _line(run("a", 1), run("b", 1), queue="throughput") == []
