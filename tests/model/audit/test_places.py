from __future__ import annotations

import pytest

from stowplan.model.audit.places import Bond, bond, places_of
from tests.build import Document, card, machine, snapshot
from tests.model.audit.standing import port, stands

IB, ROCE = port(), port("roce", 100)
DOWN = port(state="down")


def joined(*machines: Document, also: tuple[Document, ...] = ()) -> Bond | None:
    """How these machines are joined, in a fleet with these others."""
    there = places_of(snapshot([*machines, *also], []))
    return bond([there[each["name"]] for each in machines])


def test_one_machine_is_on_rung_1_in_its_domain() -> None:
    assert joined(stands("a", rack="r1")) == (1, None)
    assert joined(stands("a", IB, rack="r1", domain="d1")) == (1, "d1")


@pytest.mark.parametrize(
    ("one", "other", "right"),
    [
        ({"domain": "d", "rack": "r1"}, {"domain": "d", "rack": "r2"}, (2, "d")),
        ({"fabric": "f", "rack": "r"}, {"fabric": "f", "rack": "r"}, (3, "f/r")),
        ({"fabric": "f", "rack": "r"}, {"fabric": "f", "rack": "q"}, (4, "f")),
        ({"fabric": "f", "rack": "r"}, {"fabric": "f"}, (4, "f")),
        ({"fabric": "f", "rack": "r"}, {"fabric": "g", "rack": "r"}, (7, "r")),
        ({"fabric": "f", "rack": "r"}, {"rack": "r"}, (7, "r")),
        ({"fabric": "f"}, {"fabric": "g"}, (8, None)),
        ({"rack": "r"}, {"rack": "r"}, (5, "infiniband/r")),
        ({"rack": "r"}, {"rack": "q"}, (6, "infiniband")),
        ({"site": "s", "fabric": "f"}, {"site": "s", "fabric": "g"}, (8, "s")),
        ({"site": "s", "fabric": "f"}, {"site": "t", "fabric": "f"}, None),
        ({"site": "s"}, {}, None),
        ({"site": "s"}, {"network": "s"}, (6, "infiniband")),
    ],
)
def test_the_rung_of_two_machines_with_infiniband(
    one: Document, other: Document, right: tuple[int, str] | None
) -> None:
    assert joined(stands("a", IB, **one), stands("b", IB, **other)) == right


def test_roce_is_on_rungs_5_and_6_labelled_or_not() -> None:
    assert joined(stands("a", ROCE, fabric="f"), stands("b", ROCE, fabric="f")) == (6, "f")
    assert joined(stands("a", ROCE, rack="r"), stands("b", ROCE, rack="r")) == (5, "roce/r")


def test_infiniband_and_roce_are_no_network_to_each_other() -> None:
    assert joined(stands("a", IB, fabric="f"), stands("b", ROCE, fabric="f")) == (8, None)
    assert joined(stands("a", IB), stands("b", ROCE)) == (8, None)
    assert joined(stands("a", IB, ROCE), stands("b", ROCE)) == (6, "roce")
    assert joined(stands("a", IB, ROCE), stands("b", IB, ROCE)) == (6, "infiniband")


def test_a_subnet_names_a_fabric_and_the_label_wins() -> None:
    one, other = port(subnet="s1"), port(subnet="s2")
    assert joined(stands("a", one), stands("b", one)) == (4, "s1")
    assert joined(stands("a", one), stands("b", other)) == (8, None)
    assert joined(stands("a", one, fabric="f"), stands("b", other, fabric="f")) == (4, "f")
    assert joined(stands("a", one, IB), stands("b", IB, one)) == (4, "s1")


def test_a_fabric_is_assumed_only_while_no_machine_has_a_label() -> None:
    pair = stands("a", IB), stands("b", IB)
    assert joined(*pair, also=(stands("c", port(subnet="s1")),)) == (6, "infiniband")
    assert joined(*pair, also=(machine("c", labels={"topology/fabric": "f"}),)) == (8, None)


def test_a_port_that_is_down_joins_nothing() -> None:
    assert joined(stands("a", DOWN, fabric="f"), stands("b", IB, fabric="f")) == (8, None)
    assert joined(stands("a", DOWN), stands("b", DOWN)) == (8, None)


def test_a_domain_is_what_all_gpus_but_the_faulted_report() -> None:
    inside, out = card(nvlink_clique="d"), card()
    whole, broken = stands("a", domain="d"), card(health="faulted")
    assert joined(whole, machine("b", [inside, broken])) == (2, "d")
    assert joined(whole, machine("b", [inside, out])) == (8, None)
    assert joined(whole, machine("b", [inside, card(nvlink_clique="e")])) == (8, None)
    assert joined(whole, machine("b", [broken])) == (8, None)
    assert joined(whole, machine("b")) == (8, None)


def test_no_domain_spans_sites() -> None:
    assert joined(stands("a", domain="d", site="s"), stands("b", domain="d", site="t")) is None


def test_the_fabric_of_a_rule_is_the_label_the_subnet_or_the_assumed_one() -> None:
    told = {
        "label": stands("label", fabric="f"),
        "subnet": stands("subnet", port(subnet="s2", state="down"), port(subnet="s1")),
        "down": stands("down", port(subnet="s1", state="down")),
        "none": stands("none", IB),
    }
    there = places_of(snapshot(list(told.values()), []))
    assert {name: place.fabric for name, place in there.items()} == {
        "label": "f", "subnet": "s1", "down": None, "none": None
    }  # fmt: skip
    alone = [stands("ib", IB), stands("roce", ROCE), stands("both", ROCE, IB), stands("no")]
    assert {name: place.fabric for name, place in places_of(snapshot(alone, [])).items()} == {
        "ib": "infiniband", "roce": "roce", "both": "infiniband", "no": None
    }  # fmt: skip


def test_the_prefix_of_the_labels_is_policy() -> None:
    labels = {"dc/rack": "r", "dc/site": "s"}
    s = snapshot([machine("m", labels=labels)], [], policy={"topology_prefix": "dc/"})
    there = places_of(s)["m"]
    assert (there.rack, there.site) == ("r", "s")
