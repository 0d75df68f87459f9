"""Classes of runs that ask the same, and what each run weighs."""

from __future__ import annotations

from typing import Any

import pytest

from stowplan.solver.asks import age_steps, classes_of, waiting_elements
from tests.build import Document, after, machine, run, running, snapshot
from tests.solver.cycles import asked_of, choices_of, class_of, starts

HOUR = 3600


def _weight(asked: Document, waited_s: float = 0, **policy: Any) -> int:
    """What a run (an element of an array) weighs."""
    s = snapshot([machine("m", 64)], [{**asked, "submitted_at": after(-waited_s)}], policy=policy)
    [each] = classes_of(asked_of(s)[1].asked, s)
    [cohort] = each.cohorts
    return cohort.weight


# units x (8 + steps): a new run weighs 8 for each unit.


@pytest.mark.parametrize(
    ("asked", "units"),
    [
        (run("a", 1), 1),
        (run("a", 8), 8),
        (run("a"), 1),
        (run("a", cpu_cores=32, memory_bytes=10**9), 1),
        (run("a", node_selection={"count": 3}), 3),
        (run("a", machines=2), 2),
        (run("a", node_selection={"mode": "all"}), 1),  # on one machine
        (run("a", 4, array={"size": 100}), 4),  # of an element
        (run("a", array={"size": 100}), 1),
    ],
)
def test_a_run_weighs_its_gpus_or_else_its_workers(asked: Document, units: int) -> None:
    assert _weight(asked) == units * 8


# steps = min(64, waited_s * 8 // ageing_s): with 6 h, a step is 45 minutes.


@pytest.mark.parametrize(
    ("waited_s", "steps"),
    [
        (0, 0),
        (2699, 0),
        (2700, 1),
        (2700.9, 1),
        (5399, 1),
        (5400, 2),
        (6 * HOUR - 1, 7),
        (6 * HOUR, 8),  # twice the weight of a new run
        (48 * HOUR - 1, 63),
        (48 * HOUR, 64),  # nine times: the most
        (1000 * HOUR, 64),
        (-HOUR, 0),  # submitted in the future
    ],
)
def test_weight_grows_by_an_eighth_with_each_step_to_nine_times(
    waited_s: float, steps: int
) -> None:
    assert _weight(run("a", 3), waited_s) == 3 * (8 + steps)


@pytest.mark.parametrize(("waited_s", "steps"), [(0, 0), (1, 1), (6, 6), (7, 8), (8, 9), (99, 64)])
def test_the_policy_says_how_long_a_step_is(waited_s: int, steps: int) -> None:
    # ageing_s 7: waited x 8 // 7 steps; 6 x 8 // 7 = 6, 7 x 8 // 7 = 8.
    assert _weight(run("a"), waited_s, ageing_s=7) == 8 + steps


def test_a_run_without_a_time_of_submission_has_not_waited() -> None:
    s = snapshot([machine("m")], [run("a")])
    assert age_steps(s.runs[0], s) == 0


def test_an_old_small_run_outweighs_a_new_large_one_at_last() -> None:
    # 1 x (8 + 24) against 4 x 8 is a tie at 18 h; one step later the small run wins.
    large = run("large", 4)
    for waited_s, winner in ((17 * HOUR, "large"), (19 * HOUR, "small")):
        small = run("small", 1, submitted_at=after(-waited_s), per_gpu={"cpu_cores": 64})
        assert starts(snapshot([machine("m", 4)], [{**large, "cpu_cores": 1}, small])) == {winner}


# Classes and cohorts.


def test_runs_that_ask_the_same_are_one_class() -> None:
    alike = [run("a", 1), run("b", {"count": 1, "models": []}), run("c", 1, labels={"x": "y"})]
    other = [run("d", 2), run("e", 1, workspace="v"), run("f", 1, priority=1)]
    choices = choices_of(snapshot([machine("m", 8)], [*other, *alike]))
    assert [run.name for run in class_of(choices, "a").runs] == ["a", "b", "c"]
    assert len(choices.classes) == 4


def test_model_terms_in_other_case_or_order_ask_the_same() -> None:
    runs = [run("a", {"count": 1, "models": ["H100", "L4"]})]
    runs.append(run("b", {"count": 1, "models": ["l4", "h100"]}))
    assert len(choices_of(snapshot([machine("m", 8)], runs)).classes) == 1


def test_a_class_is_in_cohorts_of_one_weight_the_oldest_first() -> None:
    waited = {"a": 0, "b": 2700, "c": 2701, "d": 6000}
    runs = [run(name, 1, submitted_at=after(-seconds)) for name, seconds in waited.items()]
    [each] = choices_of(snapshot([machine("m", 8)], runs)).classes
    told = [([run.name for run in cohort.runs], cohort.weight) for cohort in each.cohorts]
    assert told == [(["d"], 10), (["c", "b"], 9), (["a"], 8)]
    assert (each.count, each.name) == (4, "d")


def test_in_a_strict_queue_each_run_is_a_cohort() -> None:
    s = snapshot([machine("m", 8)], [run("b", 1), run("a", 1)], policy={"queue": "strict"})
    [each] = choices_of(s).classes
    assert [[run.name for run in cohort.runs] for cohort in each.cohorts] == [["a"], ["b"]]


def test_arrays_alike_are_classes_of_their_own() -> None:
    arrays = [run(name, 1, array={"size": 3}) for name in "ab"]
    choices = choices_of(snapshot([machine("m", 8)], arrays))
    assert [(each.name, each.count, each.elements) for each in choices.classes] == [
        ("a", 3, (0, 1, 2)),
        ("b", 3, (0, 1, 2)),
    ]


def test_elements_that_run_or_have_ended_do_not_wait() -> None:
    array = {"size": 6, "finished": [0, 3]}
    held = running("a", ("m", ["m/0"], 4), array=array)
    s = snapshot([machine("m", 8)], [held])
    assert waiting_elements(s.runs[0]) == (1, 2, 5)
