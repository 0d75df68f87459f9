from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.reasons import Code, Reason
from stowplan.model.runs import Run
from stowplan.solver.cycle import RULES
from stowplan.solver.rule import Rule
from stowplan.solver.shapes import open_shapes

type Fields = dict[str, Any]  # Any: what a run's document could hold


def run_of(**fields: Any) -> Run:
    return Run.model_validate({"name": "r", **fields})


def cuts(rules: Sequence[Rule] = RULES, /, **fields: Any) -> list[tuple[int | None, int]]:
    """The workers and the GPUs each of the shapes that are open, in order."""
    found = open_shapes(run_of(**fields), rules)
    assert not isinstance(found, Reason), found.message
    return [(each.tasks, each.gpus_each) for each in found]


def refusal(rules: Sequence[Rule] = RULES, /, **fields: Any) -> Reason:
    """Why no shape is open to a run."""
    found = open_shapes(run_of(**fields), rules)
    assert isinstance(found, Reason)
    assert found.code is Code.UNEVEN_SHAPE
    return found


ALL_CUTS_OF_16 = [(1, 16), (2, 8), (4, 4), (8, 2), (16, 1)]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({}, ALL_CUTS_OF_16, id="nothing set"),
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
            {"node_selection": {"mode": "all"}, "topology": {"max_nodes": 1}},
            [(None, 16)],
            id="all machines, not bounded",
        ),
    ],
)
def test_every_even_cut_that_the_rules_leave_is_open(
    fields: Fields, expected: list[tuple[int, int]]
) -> None:
    assert cuts(**({"gpus": {"count": 16}} | fields)) == expected


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
            {"gpus": {"count": 16}, "machines": 3, "topology": {"min_nodes": 4}},
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
            {"gpus": 12, "machines": 1, "gpus_each": 12, "max_nodes": 2},
            "12 GPUs over 1 machine is 12 each, not a power of two as policy per_node asks; "
            "12 GPUs over 3 machines: more than max_nodes 2",
        ),
        (
            {"topology": {"min_nodes": 2}},
            {"gpus": 0, "machines": 1, "min_nodes": 2},
            "1 machine: fewer than min_nodes 2; "
            "a run without GPUs has one worker unless machines says more",
        ),
        (
            {"node_selection": {"count": 5}, "topology": {"max_nodes": 4}},
            {"gpus": 0, "machines": 5, "max_nodes": 4},
            "5 machines: more than max_nodes 4",
        ),
        (
            {"gpus": {"count": 7}, "topology": {"min_nodes": 2, "max_nodes": 6}},
            {"gpus": 7, "machines": 1, "min_nodes": 2, "max_nodes": 6},
            "7 GPUs over 1 machine: fewer than min_nodes 2; "
            "7 GPUs over 7 machines: more than max_nodes 6",
        ),
        (
            {"node_selection": {"names": ["m"]}, "topology": {"min_nodes": 2}},
            {"gpus": 0, "machines": 1, "min_nodes": 2},
            "1 machine: fewer than min_nodes 2",
        ),
    ],
)
def test_a_refused_shape_tells_its_numbers_in_words(
    fields: Fields, numbers: Fields, text: str
) -> None:
    assert (refusal(**fields).numbers, refusal(**fields).message) == (numbers, text)


ALL_BOUNDS: Fields = {
    "gpus": {"count": 12, "min_per_machine": 3, "policy": "per_node"},
    "topology": {"min_nodes": 2, "max_nodes": 6},
}


@pytest.mark.parametrize(
    ("left_out", "expected"),
    [
        ("min_nodes", [(3, 4)]),
        ("max_nodes", [(3, 4)]),
        ("min_per_machine", [(3, 4), (6, 2)]),
        ("per_node", [(2, 6), (3, 4), (4, 3)]),
    ],
)
def test_a_rule_that_is_left_out_bounds_nothing(
    left_out: str, expected: list[tuple[int, int]]
) -> None:
    rules = [rule for rule in RULES if rule.name != left_out]
    assert cuts(RULES, **ALL_BOUNDS) == [(3, 4)]
    assert cuts(rules, **ALL_BOUNDS) == expected


def test_without_rules_every_even_cut_is_open() -> None:
    assert cuts([], **ALL_BOUNDS) == [(1, 12), (2, 6), (3, 4), (4, 3), (6, 2), (12, 1)]


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
