from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.reasons import Code, Reason
from stowplan.model.runs import Run
from stowplan.model.shape import Demand, Shape, demand_of, shape_of


def cut(**fields: Any) -> Shape | Reason:
    return shape_of(Run.model_validate({"name": "r", **fields}))


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
    ],
)
def test_a_run_without_gpus_is_cut_as_it_asks(
    fields: dict[str, Any], tasks: int | None, share: bool
) -> None:
    assert cut(**fields) == Shape(tasks, 0, may_share=share)


@given(st.integers(1, 64), st.integers(1, 64))
def test_gpus_divide_evenly_or_the_shape_is_refused(gpus: int, machines: int) -> None:
    shape = cut(gpus={"count": gpus}, machines=machines)
    if gpus % machines:
        assert isinstance(shape, Reason)
        assert shape.code is Code.UNEVEN_SHAPE
        assert shape.numbers == {"gpus": gpus, "machines": machines}
    else:
        assert isinstance(shape, Shape)
        assert shape.tasks is not None
        assert (shape.tasks, shape.tasks * shape.gpus_each) == (machines, gpus)


def test_fewer_gpus_a_machine_than_the_least_is_refused() -> None:
    few = cut(gpus={"count": 8, "min_per_machine": 8}, machines=2)
    assert isinstance(few, Reason)
    assert few.code is Code.UNEVEN_SHAPE
    assert isinstance(cut(gpus={"count": 16, "min_per_machine": 8}, machines=2), Shape)


def test_a_worker_takes_its_fixed_ask_and_the_ask_of_each_gpu() -> None:
    run = Run.model_validate(
        {
            "name": "r",
            "cpu_cores": 0.5,
            "memory_bytes": 7,
            "per_gpu": {"cpu_cores": 1.25, "memory_bytes": 100},
        }
    )
    assert demand_of(run, 0) == Demand(500, 7)
    assert demand_of(run, 4) == Demand(5500, 407)
