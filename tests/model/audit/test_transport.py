from __future__ import annotations

import pytest

from tests.build import broken
from tests.model.audit.bought import by_rate, market, offering, priced, work
from tests.model.audit.test_scope import told


def _told(one: list[str], other: list[str], network: str = "v", **asked: str) -> set[str]:
    a = {"location": "x", "network": {"id": "v", "paths": one}}
    b = {"location": "x", "network": {"id": network, "paths": other}}
    return told(a, b, **{"transport": "direct", **asked})


@pytest.mark.parametrize(
    ("one", "other", "rules"),
    [
        (["private"], ["private"], set()),
        (["direct"], ["direct"], set()),
        (["private", "direct"], ["direct"], set()),
        (["private"], ["direct"], {"transport"}),
        (["private"], ["relay"], {"transport"}),
        (["private"], [], {"transport"}),
        ([], [], {"transport"}),
    ],
)
def test_both_must_have_the_same_path(one: list[str], other: list[str], rules: set[str]) -> None:
    assert _told(one, other) == rules
    assert _told(one, other, transport="auto") == set()


def test_a_private_path_ends_where_the_network_does() -> None:
    assert _told(["private"], ["private"], "w", scope="global") == {"transport"}
    assert _told(["direct"], ["direct"], "w", scope="global") == set()


def test_two_instances_of_one_offering_need_a_path_too() -> None:
    for paths, rules in ((["private"], set()), (["relay"], {"transport"})):
        own = offering("a", available=2, network={"id": "v", "paths": paths})
        s = market([own], [work("r", 0, machines=2, network={"transport": "direct"})])
        decision = priced(s, {"r": [("a#1", 0), ("a#2", 0)]}, "7.20", values={"r": by_rate("7.20")})
        assert broken(s, decision) == rules
