from __future__ import annotations

from stowplan.model.reasons import Code
from tests.build import Document, machine, run, running, snapshot
from tests.solver.cycles import blames, headline, places, says, starts


def _limited(most: int, gpus: int = 8) -> Document:
    return machine("m", gpus, constraints={"max_accelerators": most})


def test_a_worker_may_have_as_many_as_the_limit() -> None:
    assert starts(snapshot([_limited(4)], [run("a", 4)])) == {"a"}


def test_one_gpu_more_is_too_many() -> None:
    s = snapshot([_limited(4)], [run("a", 5)])
    assert blames(s, "a", "m") == (
        Code.MAX_ACCELERATORS,
        "at most 4 GPUs for one run, 5 asked for",
        {"need": 5, "most": 4},
    )


def test_the_limit_is_for_one_worker_not_for_all_together() -> None:
    held = running("r", ("m", 4))
    s = snapshot([_limited(4)], [held, run("a", 2), run("b", 2)])
    assert starts(s) == {"a", "b"}


def test_the_limit_is_for_one_element_of_an_array() -> None:
    s = snapshot([_limited(2)], [run("a", 2, array={"size": 4})])
    assert places(s) == {"a": ["m"] * 4}


def test_a_limit_of_none_leaves_the_machine_to_runs_without_gpus() -> None:
    s = snapshot([_limited(0)], [run("a", 1), run("b")])
    assert starts(s) == {"b"}
    assert says(s, "a", "m").numbers == {"need": 1, "most": 0}


def test_a_run_that_is_over_the_limit_goes_where_there_is_none() -> None:
    s = snapshot([_limited(4), machine("n", 8)], [run("a", 5)])
    assert places(s) == {"a": ["n"]}


def test_too_few_gpus_come_before_the_limit() -> None:
    s = snapshot([_limited(4, gpus=4)], [running("r", ("m", 1)), run("a", 5)])
    assert headline(s, "a").code == Code.INSUFFICIENT_GPUS
