from __future__ import annotations

from stowplan.model.reasons import Code
from tests.build import Document, market, offering
from tests.solver.cycles import headline, places, starts


def _joined(name: str, *paths: str, rate: str = "1", network: str = "v") -> Document:
    return offering(
        name, rate, available=1, location="x", network={"id": network, "paths": list(paths)}
    )


def _gang(**network: str) -> Document:
    asked = {"name": "g", "gpus": {"count": 24}, "machines": 3, "expected_duration_s": 3600}
    return asked | {"network": {"transport": "direct"} | network}


def test_every_two_instances_have_a_path_of_one_kind() -> None:
    # Two are joined privately, two directly: three only with those that have both.
    offered = [
        _joined("a", "private"),
        _joined("b", "private", "direct"),
        _joined("c", "direct", rate="5"),
        _joined("d", "direct", rate="5"),
    ]
    assert sorted(places(market(*offered, runs=[_gang()]))["g"]) == ["b#1", "c#1", "d#1"]
    assert "a#1" in places(market(*offered, runs=[_gang(transport="auto")]))["g"]


def test_a_path_that_is_not_told_is_not_there() -> None:
    offered = [_joined("a", "private"), _joined("b", "private"), _joined("c")]
    s = market(*offered, runs=[_gang()])
    assert starts(s) == set()
    told = headline(s, "g")
    assert (told.code, told.numbers["rule"], told.numbers["fit"]) == (
        Code.GANG_INFEASIBLE, "transport", 2,
    )  # fmt: skip
    assert starts(market(*offered, runs=[_gang(transport="auto")])) == {"g"}


def test_private_paths_of_several_networks_join_nothing_and_direct_ones_do() -> None:
    for path, found in (("private", set()), ("direct", {"g"})):
        offered = [_joined(name, path, network=name) for name in "abc"]
        assert starts(market(*offered, runs=[_gang(scope="global")])) == found
