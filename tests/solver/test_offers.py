from __future__ import annotations

from stowplan.model.vicinity import Scope, Transport
from tests.build import Document, machine, market, offering
from tests.solver.cycles import asked_of


def groups(*offered: Document, scope: Scope = "colocated", transport: Transport = "auto"):  # type: ignore[no-untyped-def]
    """Return the groups by the names of their hosts, and what each is called."""
    eligibility, _ = asked_of(market(*offered, runs=[], machines=[machine("m")]))
    return [
        (each.vicinity.name, [eligibility.hosts[place].name for place in each.hosts.tolist()])
        for each in eligibility.offers.groups(scope, transport)
        if each.vicinity
    ]


def at(name: str, location: str | None, network: str | None = None, *paths: str) -> Document:
    told = {"location": location, "network": network and {"id": network, "paths": list(paths)}}
    return offering(name, **told)  # type: ignore[arg-type]


def test_a_location_and_its_network_are_a_group() -> None:
    offered = [at("a", "x", "v"), at("b", "x", "v"), at("c", "x", "w"), at("d", "y", "v")]
    assert groups(*offered) == [("x, v", ["a", "b"]), ("x, w", ["c"]), ("y, v", ["d"])]


def test_what_tells_no_location_is_in_one_of_its_own() -> None:
    assert groups(at("a", None), at("b", None)) == [("east", ["a"]), ("east", ["b"])]
    assert groups(at("a", "x"), at("b", "x")) == [("x", ["a", "b"])]


def test_the_warm_instances_of_an_offering_are_with_the_others() -> None:
    offered = at("a", "x") | {"available": 2, "warm": 1}
    assert groups(offered) == [("x", ["a", "a (warm)"])]


def test_wider_scopes_hold_more() -> None:
    classes = {"a": "us", "b": "us", "c": None}
    offered = [at(name, f"l{name}") | {"region_class": own} for name, own in classes.items()]
    assert groups(*offered, scope="regional") == [("region class us", ["a", "b"]), ("lc", ["c"])]
    assert groups(*offered, scope="global") == [("all locations", ["a", "b", "c"])]


def test_direct_paths_make_groups_of_one_kind() -> None:
    offered = [
        at("a", "x", "v", "private"),
        at("b", "x", "v", "private", "direct"),
        at("c", "y", "w", "direct"),
        at("d", "y", "w", "relay"),
    ]
    assert groups(*offered, transport="direct") == [
        ("x, v", ["b"]), ("x, v", ["a", "b"]), ("y, w", ["c"]),
    ]  # fmt: skip
    assert groups(*offered, scope="global", transport="direct") == [
        ("all locations", ["b", "c"]), ("x, v", ["a", "b"]),
    ]  # fmt: skip
