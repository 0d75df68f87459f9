from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from stowplan.model.topology import Fabric, Joint, Spot, Unit, groups_of, spots_of
from tests.build import Document, card, snapshot
from tests.gang_strategies import gang_snapshots
from tests.model.audit.standing import port, stands
from tests.strategies import examples
from tests.witness.ladder import group_of, rung_of
from tests.witness.places import places

IB, ROCE = port(), port("roce")


def spots(*machines: Document, **more: Any) -> dict[str, Spot]:
    return spots_of(snapshot(list(machines), [], **more))


def spot(*ports: Document, **where: Any) -> Spot:
    """Where the only machine of a fleet stands."""
    return spots(stands("m", *ports, **where))["m"]


def joint(*machines: Document) -> Joint:
    """What joins all machines of a fleet."""
    return Joint.of(list(spots(*machines).values()))


def groups(
    *machines: Document, within: Unit | None = None
) -> dict[str, tuple[int, str | None, int]]:
    """The groups of a fleet by their machines: the rung, the name, in how many sites."""
    found = groups_of(spots(*machines), within)
    return {"".join(names): (each.rung, each.name, each.sites) for each, names in found}


# Where a machine stands.


def test_a_site_is_the_label_and_else_the_network() -> None:
    assert (spot().site, spot(site="s").site, spot(network="n").site) == (None, "s", "n")
    assert spot(site="s", network="n").site == "s"


def test_the_prefix_of_labels_is_the_policys() -> None:
    labels = {"where/rack": "r", "topology/rack": "q"}
    found = spots(stands("m", gpus=0) | {"labels": labels}, policy={"topology_prefix": "where/"})
    assert found["m"].rack == "r"


@pytest.mark.parametrize(
    ("ports", "label", "fabrics", "unit"),
    [
        ([], None, [], None),
        ([], "f", [], "f"),
        ([IB], None, [("infiniband", "infiniband", True)], "infiniband"),
        ([IB], "f", [("infiniband", "f", False)], "f"),
        ([port(subnet="n")], None, [("infiniband", "n", False)], "n"),
        ([port(subnet="n")], "f", [("infiniband", "f", False)], "f"),
        ([IB, port(subnet="n")], None, [("infiniband", "n", False)], "n"),
        ([ROCE], None, [("roce", "roce", True)], "roce"),
        ([ROCE], "f", [("roce", "f", False)], "f"),
        ([port("roce", subnet="n")], None, [("roce", "roce", True)], "roce"),
        (
            [ROCE, IB],
            None,
            [("infiniband", "infiniband", True), ("roce", "roce", True)],
            "infiniband",
        ),
        ([ROCE, IB], "f", [("infiniband", "f", False), ("roce", "f", False)], "f"),
        ([port(state="down")], "f", [], "f"),
        ([port(state="down", subnet="n")], None, [], None),
        (
            [port(state="down", subnet="k"), port(subnet="n")],
            None,
            [("infiniband", "n", False)],
            "n",
        ),
        (
            [port(state="down", subnet="n"), IB],
            None,
            [("infiniband", "infiniband", True)],
            "infiniband",
        ),
        ([port(state="down"), ROCE], None, [("roce", "roce", True)], "roce"),
        (
            [IB, port("roce", state="down")],
            None,
            [("infiniband", "infiniband", True)],
            "infiniband",
        ),
    ],
)
def test_up_ports_put_a_machine_on_the_fabrics_of_their_kind(
    ports: list[Document],
    label: str | None,
    fabrics: list[tuple[str, str, bool]],
    unit: str | None,
) -> None:
    found = spot(*ports, fabric=label)
    assert [tuple(each) for each in found.fabrics] == fabrics
    assert (found.unit, found.of("fabric")) == (unit, unit)


@pytest.mark.parametrize(
    ("ports", "fabrics"),
    [([IB], []), ([ROCE], []), ([port(subnet="n"), ROCE], [("infiniband", "n", False)])],
)
def test_one_label_anywhere_silences_the_fabrics_that_are_only_assumed(
    ports: list[Document], fabrics: list[tuple[str, str, bool]]
) -> None:
    found = spots(stands("m", *ports), stands("far", site="s", fabric="f"))["m"]
    assert [tuple(each) for each in found.fabrics] == fabrics


@pytest.mark.parametrize(
    ("cards", "domain"),
    [
        ([], None),
        ([("c", "healthy")], "c"),
        ([("c", "healthy"), ("c", "at_risk")], "c"),
        ([("c", "healthy"), ("d", "healthy")], None),
        ([("c", "healthy"), (None, "healthy")], None),
        ([("c", "healthy"), (None, "faulted")], "c"),
        ([("c", "healthy"), ("d", "faulted")], "c"),
        ([("c", "faulted")], None),
    ],
)
def test_a_domain_is_what_all_gpus_that_work_report(
    cards: list[tuple[str | None, str]], domain: str | None
) -> None:
    devices = [card(nvlink_clique=clique, health=health) for clique, health in cards]
    assert spots(stands("m") | {"devices": devices})["m"].domain == domain


def test_a_machine_is_known_to_be_in_each_unit_that_it_is_told_to_be_in() -> None:
    there = spot(IB, rack="r", domain="c", fabric="f")
    units: tuple[Unit, ...] = ("nvlink_domain", "fabric", "rack", "node")
    assert [there.of(unit) for unit in units] == ["c", "f", "r", None]
    assert [joint(stands("m", IB, rack="r", domain="c")).shared(unit) for unit in units] == [
        "c", "infiniband", "r", None,
    ]  # fmt: skip


# The ladder.

N = port(subnet="n")

LADDER = [
    pytest.param([N], {"domain": "c", "rack": "r"}, 2, "c", "in NVLink domain c", id="domain"),
    pytest.param(
        [N, ROCE], {"rack": "r"}, 3, "n/r", "on InfiniBand fabric n, rack r", id="fabric and rack"
    ),
    pytest.param([N], {}, 4, "n", "on InfiniBand fabric n", id="fabric"),
    pytest.param([IB], {"fabric": "f"}, 4, "f", "on InfiniBand fabric f", id="labelled"),
    pytest.param(
        [IB],
        {"rack": "r"},
        5,
        "infiniband/r",
        "on InfiniBand, taken as one fabric, rack r",
        id="assumed InfiniBand and rack",
    ),
    pytest.param(
        [ROCE], {"fabric": "f", "rack": "r"}, 5, "f/r", "on RoCE fabric f, rack r", id="RoCE, rack"
    ),
    pytest.param(
        [IB, ROCE], {}, 6, "infiniband", "on InfiniBand, taken as one fabric", id="InfiniBand first"
    ),
    pytest.param([ROCE], {}, 6, "roce", "on RoCE, taken as one fabric", id="assumed RoCE"),
    pytest.param([ROCE], {"fabric": "f"}, 6, "f", "on RoCE fabric f", id="labelled RoCE"),
    pytest.param([], {"rack": "r"}, 7, "r", "over Ethernet in rack r", id="rack"),
    pytest.param([], {"site": "s"}, 8, "s", "over Ethernet in site s", id="site"),
    pytest.param([], {}, 8, None, "over Ethernet", id="the unnamed site"),
    pytest.param([], {"fabric": "f"}, 8, None, "over Ethernet", id="a label without ports"),
]


@pytest.mark.parametrize(("ports", "where", "rung", "name", "words"), LADDER)
def test_machines_alike_are_joined_by_the_tightest_that_they_share(
    ports: list[Document], where: Document, rung: int, name: str | None, words: str
) -> None:
    found = joint(stands("m", *ports, **where), stands("n", *ports, **where))
    assert (found.rung, found.name, found.words) == (rung, name, words)


@pytest.mark.parametrize(
    ("one", "other", "rung"),
    [
        (stands("m", domain="c"), stands("n", domain="d"), 8),
        (stands("m", N), stands("n", port(subnet="k")), 8),
        (stands("m", N, rack="r"), stands("n", port(subnet="k"), rack="r"), 7),
        (stands("m", N, rack="r"), stands("n", N, rack="q"), 4),
        (stands("m", N, rack="r"), stands("n", N), 4),
        (stands("m", IB), stands("n", ROCE), 8),
        (stands("m", IB, ROCE), stands("n", ROCE), 6),
        (stands("m", IB, fabric="f"), stands("n", ROCE, fabric="f"), 8),
        (stands("m", IB, fabric="f"), stands("n", IB, fabric="g"), 8),
        (stands("m", domain="c"), stands("n", domain="c", gpus=0), 8),
    ],
)
def test_machines_unlike_are_joined_by_what_is_the_same(
    one: Document, other: Document, rung: int
) -> None:
    assert joint(one, other).rung == joint(other, one).rung == rung


def test_nothing_joins_machines_of_several_sites() -> None:
    where: Document = {"domain": "c", "rack": "r", "fabric": "f"}
    found = joint(stands("m", IB, site="s", **where), stands("n", IB, site="t", **where))
    assert (found.sites, found.domain, found.rack, found.fabrics, found.unit) == (
        2, None, None, (), None,
    )  # fmt: skip


def test_the_link_says_which_networks_are_shared() -> None:
    both = joint(stands("m", IB, ROCE), stands("n", IB, ROCE))
    only = joint(stands("m", IB, ROCE), stands("n", ROCE))
    none = joint(stands("m", IB), stands("n"))
    assert [each.has_rdma for each in (both, only, none)] == [True, True, False]
    assert [each.has_infiniband for each in (both, only, none)] == [True, False, False]
    assert both.link == Fabric("infiniband", "infiniband", is_assumed=True)


# Groups.


def test_each_group_is_there_once_on_its_rung_the_tightest_first() -> None:
    found = groups(
        stands("a", N, rack="r", domain="c"),
        stands("b", N, rack="r", domain="c"),
        stands("d", N, rack="r"),
        stands("e", N, rack="q"),
        stands("f", rack="q"),
        stands("g"),
    )
    assert list(found.items()) == [
        ("ab", (2, "c", 1)),
        ("abd", (3, "n/r", 1)),
        ("abde", (4, "n", 1)),
        ("ef", (7, "q", 1)),
        ("abdefg", (8, None, 1)),
    ]


def test_a_machine_alone_is_no_group() -> None:
    assert groups(stands("a", N, rack="r", domain="c")) == {}


def test_a_fabric_inside_a_domain_is_no_group_of_its_own() -> None:
    # Whoever is on d and e is on rung 2, and its group all of the domain.
    machines = [stands(name, domain="c") for name in "ab"]
    machines += [stands(name, ROCE, domain="c") for name in "de"]
    assert groups(*machines) == {"abde": (2, "c", 1)}


def test_a_rack_whose_machines_are_all_on_one_fabric_is_the_fabrics() -> None:
    machines = [stands(name, N, rack="r") for name in "ab"] + [stands("d", N)]
    assert groups(*machines) == {"ab": (3, "n/r", 1), "abd": (4, "n", 1)}


def test_assumed_fabrics_of_both_kinds_are_two_groups_of_one_rung() -> None:
    machines = [stands("a", IB), stands("b", IB, ROCE), stands("d", IB, ROCE), stands("e", ROCE)]
    assert groups(*machines) == {
        "abd": (6, "infiniband", 1),
        "bde": (6, "roce", 1),
        "abde": (8, None, 1),
    }


def test_no_group_spans_sites_but_one_that_says_so_at_the_end() -> None:
    machines = [stands(f"{site}{n}", rack="r", site=site) for n in (1, 2) for site in "st"]
    assert list(groups(*machines).items()) == [
        ("s1s2", (7, "r", 1)),
        ("t1t2", (7, "r", 1)),
        ("s1s2t1t2", (8, None, 2)),
    ]


def test_groups_within_a_unit_never_leave_it_nor_have_machines_of_which_it_is_not_known() -> None:
    machines = [stands(name, domain="c", rack=name[0]) for name in ("p1", "p2", "q1", "q2")]
    machines.append(stands("x", domain="c"))
    assert groups(*machines, within="rack") == {"p1p2": (2, "c", 1), "q1q2": (2, "c", 1)}
    assert groups(*machines, within="nvlink_domain") == {"p1p2q1q2x": (2, "c", 1)}
    assert groups(*machines, within="fabric") == {}


def _sets(snapshot: Snapshot) -> list[tuple[str, ...]]:
    names = sorted(machine.name for machine in snapshot.fleet.machines)
    return [each for size in (2, 3, 4, 5) for each in itertools.combinations(names, size)]


@examples(200)
@given(gang_snapshots(always=("racks",)))
def test_every_set_of_machines_is_on_the_rung_that_another_reading_of_it_finds(
    snapshot: Snapshot,
) -> None:
    there, others = spots_of(snapshot), places(snapshot)
    for names in _sets(snapshot):
        found = Joint.of([there[name] for name in names])
        rung = rung_of([others[name] for name in names])
        assert (found.rung if found.sites == 1 else None) == rung


KEPT = st.sampled_from((None, "rack", "fabric", "nvlink_domain"))


@examples(200)
@given(gang_snapshots(always=("racks",)), KEPT)
def test_every_set_of_machines_is_in_the_group_that_it_is_told_to_be_in(
    snapshot: Snapshot, kept: Unit | None
) -> None:
    there, run = (
        places(snapshot),
        Run.model_validate({"name": "r", "topology": {"keep_within": kept}}),
    )
    found = {names: each for each, names in groups_of(spots_of(snapshot), kept)}
    wanted = set()
    for names in _sets(snapshot):
        units = {there[name].within(kept) for name in names} if kept else {""}
        if len(units) > 1 or None in units or rung_of([there[name] for name in names]) is None:
            continue
        group = group_of(there, run, names)
        own = tuple(sorted(group.hosts))
        wanted.add(own)
        assert (found[own].rung, found[own].name) == (
            rung_of([there[name] for name in names]),
            group.name,
        )
    others = {names: each for names, each in found.items() if names not in wanted}
    assert all(each.sites > 1 or each.link for each in others.values())
