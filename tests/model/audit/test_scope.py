from __future__ import annotations

import pytest

from stowplan.model.snapshot import Snapshot
from tests.build import Document, Place, broken
from tests.model.audit.bought import by_rate, market, offering, priced, work


def told(one: Document, other: Document, **network: str) -> set[str]:
    """Return the rules that a run breaks with a worker on each of two offerings like these."""
    both = [offering("a") | one, offering("b") | other]
    s = market(both, [work("r", 0, machines=2, network=network)])
    return broken(s, on_both(s))


def on_both(s: Snapshot):  # type: ignore[no-untyped-def]
    """Return the decision with a worker on each of two offerings."""
    places: dict[str, list[Place]] = {"r": [("a#1", 0), ("b#1", 0)]}
    return priced(s, places, "7.20", values={"r": by_rate("7.20")})


X = {"location": "x", "network": {"id": "v"}}


@pytest.mark.parametrize(
    ("other", "rules"),
    [
        (X, set()),
        ({"location": "y", "network": {"id": "v"}}, {"scope"}),
        ({"location": "x", "network": {"id": "w"}}, {"scope"}),
        ({"location": "x"}, {"scope"}),
        ({"network": {"id": "v"}}, {"scope"}),
    ],
)
def test_colocated_is_one_location_and_one_network(other: Document, rules: set[str]) -> None:
    assert told(X, other) == rules


def test_a_network_that_is_not_told_is_the_providers_own() -> None:
    assert told({"location": "x"}, {"location": "x"}) == set()
    assert told({"location": "x"}, {"location": "x", "provider": "other"}) == {"scope"}
    assert told({}, {}) == {"scope"}


@pytest.mark.parametrize(
    ("one", "other", "rules"),
    [
        ({"region_class": "us"}, {"region_class": "us"}, set()),
        ({"region_class": "us"}, {"region_class": "eu"}, {"scope"}),
        ({"region_class": "us"} | X, X, {"scope"}),
        (X, X, set()),
        ({}, {}, {"scope"}),
    ],
)
def test_regional_is_one_region_class(one: Document, other: Document, rules: set[str]) -> None:
    assert told(one, other, scope="regional") == rules


def test_global_is_anywhere() -> None:
    assert told({"location": "x"}, {"location": "y", "provider": "other"}, scope="global") == set()


def test_instances_of_one_offering_are_in_one_place() -> None:
    s = market([offering("a", available=2)], [work("r", 0, machines=2)])
    decision = priced(s, {"r": [("a#1", 0), ("a#2", 0)]}, "7.20", values={"r": by_rate("7.20")})
    assert broken(s, decision) == set()
