from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.reasons import Code
from tests.build import Document, market, offering
from tests.solver.cycles import headline, placed, places, starts


def _gang(workers: int = 4, **more: Any) -> Document:
    asked = {"name": "g", "gpus": {"count": 8 * workers}, "machines": workers}
    return asked | {"expected_duration_s": 3600} | more


def _at(name: str, location: str, rate: str = "10", **more: Any) -> Document:
    usual: Document = {"available": 2, "location": location, "region_class": "us"}
    return offering(name, rate, **(usual | more))


def test_a_run_is_in_one_location_though_others_are_cheaper() -> None:
    offered = [_at("a", "x"), _at("b", "x"), _at("c", "y", "1"), _at("d", "z", "1")]
    s = market(*offered, runs=[_gang()])
    assert sorted(places(s)["g"]) == ["a#1", "a#2", "b#1", "b#2"]
    assert placed(s, "g").shape.why == "4 instances x 8 GPUs in x"
    assert (placed(s, "g").rung, placed(s, "g").group) == (None, None)


def test_with_scope_regional_it_is_in_one_region_class() -> None:
    offered = [_at("a", "x"), _at("c", "y", "1"), _at("d", "z", "1", region_class="eu")]
    s = market(*offered, runs=[_gang(network={"scope": "regional"})])
    assert sorted(places(s)["g"]) == ["a#1", "a#2", "c#1", "c#2"]
    assert placed(s, "g").shape.why == "4 instances x 8 GPUs in region class us"


def test_with_scope_global_it_is_anywhere() -> None:
    offered = [_at("a", "x"), _at("c", "y", "1"), _at("d", "z", "1", region_class="eu")]
    s = market(*offered, runs=[_gang(network={"scope": "global"})])
    assert sorted(places(s)["g"]) == ["c#1", "c#2", "d#1", "d#2"]
    assert placed(s, "g").shape.why == "4 instances x 8 GPUs in 2 locations"


@pytest.mark.parametrize("scope", ["colocated", "regional"])
def test_where_no_place_has_enough_it_is_told_how_near_the_best_comes(scope: str) -> None:
    offered = [_at("a", "x", available=3), _at("b", "y", region_class="eu")]
    s = market(*offered, runs=[_gang(network={"scope": scope})])
    assert starts(s) == set()
    place, best = {
        "colocated": ("location and network", "x"),
        "regional": ("region class", "region class us"),
    }[scope]
    assert headline(s, "g") == (
        Code.GANG_INFEASIBLE,
        f"no 4 instances for workers of 8 GPUs can start in one {place}: "
        f"the best is {best} with 3; without scope there would be",
        {"rule": "scope", "workers": 4, "fit": 3, "best": best},
    )
    assert starts(market(*offered, runs=[_gang(network={"scope": "global"})])) == {"g"}


def test_too_few_anywhere_is_no_matter_of_scope() -> None:
    s = market(_at("a", "x"), _at("b", "y", available=1), runs=[_gang()])
    assert headline(s, "g").code == Code.NO_CAPACITY_NOW
