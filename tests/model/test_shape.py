from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.reasons import Code, Reason
from stowplan.model.runs import Run
from stowplan.model.shape import Demand, Shape, demand_of, divisors, shape_over, shapes_of

type Fields = dict[str, Any]  # Any: what a run's document could hold


def run_of(**fields: Any) -> Run:
    return Run.model_validate({"name": "r", **fields})


def shapes(**fields: Any) -> tuple[Shape, ...]:
    """The shapes of a run that has some."""
    found = shapes_of(run_of(**fields))
    assert not isinstance(found, Reason), found.message
    return found


def cuts(**fields: Any) -> list[tuple[int | None, int]]:
    """The workers and the GPUs each of its shapes, in order."""
    return [(each.tasks, each.gpus_each) for each in shapes(**fields)]


def refusal(**fields: Any) -> Reason:
    """Why a run has no shape."""
    found = shapes_of(run_of(**fields))
    assert isinstance(found, Reason)
    assert found.code is Code.UNEVEN_SHAPE
    return found


@pytest.mark.parametrize(
    ("fields", "tasks", "share"),
    [
        ({}, 1, False),
        ({"machines": 3}, 3, False),
        ({"node_selection": {"count": 3}}, 3, False),
        ({"node_selection": {"names": ["a", "b"]}}, 2, False),
        ({"node_selection": {"names": ["a-{1..3}"]}}, 3, False),
        ({"node_selection": {"names": ["a", "b"], "count": 1}}, 1, False),
        ({"node_selection": {"names": ["a", "b"], "mode": "any"}}, 1, True),
        ({"node_selection": {"mode": "any", "count": 4}}, 4, True),
        ({"node_selection": {"mode": "any"}, "machines": 4}, 4, False),
        ({"node_selection": {"mode": "all"}}, None, False),
        ({"array": {"size": 9}}, 1, False),
        ({"array": {"size": 9}, "node_selection": {"names": ["a", "b"]}}, 1, False),
        ({"topology": {"max_nodes": 3}}, 1, False),
        ({"node_selection": {"count": 3}, "topology": {"min_nodes": 2}}, 3, False),
    ],
)
def test_a_run_without_gpus_is_cut_in_one_way(fields: Fields, tasks: int, share: bool) -> None:
    assert shapes(**fields) == (Shape(tasks, 0, may_share=share),)


ALL_CUTS_OF_16 = [(1, 16), (2, 8), (4, 4), (8, 2), (16, 1)]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({}, ALL_CUTS_OF_16, id="nothing set"),
        pytest.param({"gpus": {"count": 7}}, [(1, 7), (7, 1)], id="a prime"),
        pytest.param({"gpus": {"count": 1}}, [(1, 1)], id="a single GPU"),
        pytest.param({"machines": 1}, [(1, 16)], id="one machine"),
        pytest.param({"machines": 4}, [(4, 4)], id="machines"),
        pytest.param({"machines": 16}, [(16, 1)], id="a machine for each GPU"),
        pytest.param(
            {"node_selection": {"names": ["a-{1..4}"]}}, [(4, 4)], id="one worker on each name"
        ),
        pytest.param(
            {"node_selection": {"names": ["a-{1..4}"]}, "machines": 2},
            [(2, 8)],
            id="machines before names",
        ),
        pytest.param(
            {"node_selection": {"names": ["a-{1..3}"], "mode": "any"}},
            ALL_CUTS_OF_16,
            id="names among which to choose",
        ),
        pytest.param({"topology": {"spread": "rack"}}, ALL_CUTS_OF_16, id="spread"),
        pytest.param({"topology": {"keep_within": "node"}}, ALL_CUTS_OF_16, id="keep_within"),
        pytest.param({"node_selection": {"mode": "all"}}, [(None, 16)], id="all machines"),
        pytest.param({"array": {"size": 2}}, [(1, 16)], id="an element"),
        pytest.param({"topology": {"min_nodes": 3}}, ALL_CUTS_OF_16, id="bounds are for the rules"),
    ],
)
def test_gpus_are_cut_in_every_even_way_that_the_run_allows(
    fields: Fields, expected: list[tuple[int, int]]
) -> None:
    assert cuts(**({"gpus": {"count": 16}} | fields)) == expected


@pytest.mark.parametrize(
    "bound",
    [
        {"machines": 2},
        {"topology": {"min_nodes": 2}},
        {"topology": {"max_nodes": 4}},
        {"topology": {"spread": "node"}},
        {"topology": {"spread": "rack"}},
        {"gpus": {"count": 4, "policy": "per_node"}},
        {"node_selection": {"mode": "exact"}},
        {"node_selection": {"mode": "all"}},
    ],
)
def test_workers_never_share_where_the_run_says_how_they_lie_on_machines(bound: Fields) -> None:
    loose: Fields = {"gpus": {"count": 4}, "node_selection": {"mode": "any"}}
    assert all(each.may_share for each in shapes(**loose))
    assert not any(each.may_share for each in shapes(**(loose | bound)))


@pytest.mark.parametrize("loose", [{"gpus": {"count": 4, "min_per_machine": 2}}, {}])
def test_workers_of_mode_any_may_share_where_nothing_else_is_said(loose: Fields) -> None:
    fields = {"gpus": {"count": 4}, "node_selection": {"mode": "any"}} | loose
    assert all(each.may_share for each in shapes(**fields))


@given(st.integers(1, 64), st.integers(1, 64))
def test_gpus_divide_evenly_or_the_shape_is_refused(gpus: int, machines: int) -> None:
    fields: Fields = {"gpus": {"count": gpus}, "machines": machines}
    if gpus % machines:
        assert refusal(**fields).numbers == {"gpus": gpus, "machines": machines}
    else:
        assert cuts(**fields) == [(machines, gpus // machines)]


@pytest.mark.parametrize(
    ("fields", "numbers", "text"),
    [
        (
            {"gpus": {"count": 16}, "machines": 3},
            {"gpus": 16, "machines": 3},
            "16 GPUs don't divide evenly over 3 machines",
        ),
        (
            {"gpus": {"count": 16}, "node_selection": {"names": ["a", "b", "c"]}},
            {"gpus": 16, "machines": 3},
            "16 GPUs don't divide evenly over 3 machines",
        ),
    ],
)
def test_a_refused_shape_tells_its_numbers_in_words(
    fields: Fields, numbers: Fields, text: str
) -> None:
    assert (refusal(**fields).numbers, refusal(**fields).message) == (numbers, text)


@given(st.integers(0, 64), st.integers(0, 12))
def test_a_run_on_every_machine_that_could_take_it_is_cut_evenly_over_them(
    gpus: int, machines: int
) -> None:
    run = run_of(gpus={"count": gpus}, node_selection={"mode": "all"})
    shape = shape_over(run, machines)
    if machines and gpus % machines:
        assert isinstance(shape, Reason)
        assert shape.code is Code.UNEVEN_SHAPE
        assert shape.numbers == {"gpus": gpus, "machines": machines}
    else:
        each = gpus // machines if machines else gpus
        assert shape == Shape(machines, each, may_share=False)


@given(st.integers(1, 5000))
def test_divisors_are_all_that_divide(number: int) -> None:
    assert divisors(number) == [each for each in range(1, number + 1) if number % each == 0]


def test_a_worker_takes_its_fixed_ask_and_the_ask_of_each_gpu() -> None:
    run = run_of(
        cpu_cores=0.5,
        memory_bytes=7,
        per_gpu={"cpu_cores": 1.25, "memory_bytes": 100},
    )
    assert demand_of(run, 0) == Demand(500, 7)
    assert demand_of(run, 4) == Demand(5500, 407)
