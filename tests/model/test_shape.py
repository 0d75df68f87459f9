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
        pytest.param({"topology": {"min_nodes": 3}}, [(4, 4), (8, 2), (16, 1)], id="min_nodes"),
        pytest.param({"topology": {"max_nodes": 3}}, [(1, 16), (2, 8)], id="max_nodes"),
        pytest.param({"topology": {"min_nodes": 2, "max_nodes": 4}}, [(2, 8), (4, 4)], id="both"),
        pytest.param({"topology": {"min_nodes": 3, "max_nodes": 4}}, [(4, 4)], id="one within"),
        pytest.param(
            {"gpus": {"count": 16, "min_per_machine": 4}}, ALL_CUTS_OF_16[:3], id="min_per_machine"
        ),
        pytest.param(
            {"gpus": {"count": 16, "min_per_machine": 5}},
            ALL_CUTS_OF_16[:2],
            id="min_per_machine that doesn't divide",
        ),
        pytest.param(
            {"gpus": {"count": 24, "policy": "per_node"}},
            [(3, 8), (6, 4), (12, 2), (24, 1)],
            id="per_node",
        ),
        pytest.param(
            {"gpus": {"count": 24, "policy": "per_node"}, "machines": 3},
            [(3, 8)],
            id="per_node and machines",
        ),
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
        pytest.param(
            {"array": {"size": 2}, "topology": {"min_nodes": 2, "max_nodes": 3}},
            [(1, 16)],
            id="an element has no nodes to bound",
        ),
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
    ("fields", "numbers"),
    [
        ({"gpus": {"count": 8, "min_per_machine": 8}, "machines": 2}, {"min_per_machine": 8}),
        ({"gpus": {"count": 8}, "machines": 2, "topology": {"min_nodes": 3}}, {"min_nodes": 3}),
        ({"gpus": {"count": 8}, "machines": 2, "topology": {"max_nodes": 1}}, {"max_nodes": 1}),
        ({"gpus": {"count": 12, "policy": "per_node"}, "machines": 2}, {"gpus_each": 6}),
    ],
)
def test_a_shape_that_a_bound_rules_out_is_refused_with_the_bound(
    fields: Fields, numbers: Fields
) -> None:
    gpus = fields["gpus"]["count"]
    assert refusal(**fields).numbers == {"gpus": gpus, "machines": 2, **numbers}


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
        (
            {"gpus": {"count": 2, "min_per_machine": 4}},
            {"gpus": 2, "machines": 1, "min_per_machine": 4},
            "2 GPUs over 1 machine is 2 each, fewer than min_per_machine 4",
        ),
        (
            {"gpus": {"count": 12, "policy": "per_node"}, "topology": {"max_nodes": 2}},
            {"gpus": 12, "machines": 1, "gpus_each": 12},
            "12 GPUs over 1 machine is 12 each, not a power of two as policy per_node asks",
        ),
        (
            {"topology": {"min_nodes": 2}},
            {"gpus": 0, "machines": 1, "min_nodes": 2},
            "1 machine: fewer than min_nodes asks",
        ),
        (
            {"node_selection": {"count": 5}, "topology": {"max_nodes": 4}},
            {"gpus": 0, "machines": 5, "max_nodes": 4},
            "5 machines: more than max_nodes allows",
        ),
    ],
)
def test_a_refused_shape_tells_its_numbers_in_words(
    fields: Fields, numbers: Fields, text: str
) -> None:
    assert (refusal(**fields).numbers, refusal(**fields).message) == (numbers, text)


LIMITS = st.none() | st.integers(1, 9)


@given(st.integers(1, 64), LIMITS, LIMITS, LIMITS, st.sampled_from((None, "per_node")))
def test_just_the_even_cuts_within_all_bounds_are_open_fewest_workers_first(
    gpus: int, least: int | None, most: int | None, each: int | None, policy: str | None
) -> None:
    def is_open(workers: int) -> bool:
        one = gpus // workers
        return (
            workers * one == gpus
            and (least is None or workers >= least)
            and (most is None or workers <= most)
            and (each is None or one >= each)
            and (policy is None or one.bit_count() == 1)
        )

    if least and most:
        least, most = min(least, most), max(least, most)
    fields: Fields = {
        "gpus": {"count": gpus, "min_per_machine": each, "policy": policy},
        "topology": {"min_nodes": least, "max_nodes": most},
    }
    expected = [(workers, gpus // workers) for workers in range(1, gpus + 1) if is_open(workers)]
    if expected:
        assert cuts(**fields) == expected
    else:
        assert refusal(**fields).numbers["gpus"] == gpus


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
