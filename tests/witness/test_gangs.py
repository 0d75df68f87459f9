"""Places, rungs, shapes and rules of runs of several workers, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.build import after, card, machine, running, snapshot
from tests.witness.gangs import Ground
from tests.witness.ladder import group_of, room_left, rung
from tests.witness.places import Fabric, bad_ports, free_gpus, places
from tests.witness.shapes import codes_of_refusal, everywhere, shapes

type Document = dict[str, Any]  # Any: what a YAML file could hold


def at(
    name: str,
    rack: str | None = None,
    fabric: str | None = None,
    *,
    site: str | None = None,
    clique: str | None = None,
    ports: str = "",
    gpus: int = 4,
    **more: Any,
) -> Document:
    """A machine that stands there, with ports as `ib`, `ib:subnet`, `roce`, `ib@200`, `-ib`."""
    told = {"rack": rack, "fabric": fabric, "site": site}
    labels = {f"topology/{kind}": value for kind, value in told.items() if value}
    cards = [card(nvlink_clique=clique) for _ in range(gpus)]
    usual = {"labels": labels, "rdma": [port(each) for each in ports.split()]}
    return machine(name, more.pop("cards", cards), **(usual | more))


def port(text: str) -> Document:
    kind, _, rate = text.removeprefix("-").partition("@")
    kind, _, subnet = kind.partition(":")
    written: Document = {
        "kind": {"ib": "infiniband"}.get(kind, kind),
        "rate_gbps": int(rate or 400),
    }
    state = "down" if text.startswith("-") else "up"
    return written | {"subnet": subnet or None, "state": state}


def fleet(*machines: Document, runs: list[Document] | None = None, **more: Any) -> Snapshot:
    return snapshot(list(machines), runs or [], **more)


def asks(gpus: int = 0, **more: Any) -> Run:
    return Run.model_validate(
        {"name": "r", "gpus": {"count": gpus, **more.pop("card", {})}, **more}
    )


class TestPlaces:
    def test_a_site_is_the_label_else_the_network_else_the_unnamed_one(self) -> None:
        there = fleet(at("a", site="s", network="n"), at("b", network="n"), at("c"))
        assert [place.site for place in places(there).values()] == ["s", "n", None]

    @pytest.mark.parametrize(
        ("ports", "label", "fabrics", "unit"),
        [
            ("", None, set(), None),
            ("", "f", set(), "f"),
            ("-ib -roce", None, set(), None),
            ("ib", None, {("infiniband", None)}, ("infiniband", None)),
            ("roce", None, {("roce", None)}, ("roce", None)),
            ("roce ib", None, {("infiniband", None), ("roce", None)}, ("infiniband", None)),
            ("ib ib:x ib:y", None, {("infiniband", "x")}, "x"),
            ("roce ib:x", None, {("infiniband", "x"), ("roce", None)}, "x"),
            ("-ib:x roce", None, {("roce", None)}, ("roce", None)),
            ("-ib:x ib:y", None, {("infiniband", "y")}, "y"),
            ("-ib ib:x", None, {("infiniband", "x")}, "x"),
            ("ib:x roce", "f", {("infiniband", "f"), ("roce", "f")}, "f"),
        ],
    )
    def test_up_ports_put_a_machine_in_fabrics(
        self, ports: str, label: str | None, fabrics: set[Fabric], unit: Any
    ) -> None:
        place = places(fleet(at("a", fabric=label, ports=ports)))["a"]
        assert (set(place.fabrics), place.unit) == (fabrics, unit)

    def test_where_any_machine_has_a_label_nothing_is_assumed(self) -> None:
        there = fleet(at("a", ports="ib roce"), at("b", ports="ib:x roce"), at("c", fabric="f"))
        assert places(there)["a"][3:] == (frozenset(), None)
        assert places(there)["b"][3:] == (frozenset({Fabric("infiniband", "x")}), "x")
        assert places(there)["c"][3:] == (frozenset(), "f")

    @pytest.mark.parametrize(
        ("cards", "domain"),
        [
            ([], None),
            ([{"nvlink_clique": "c"}] * 2, "c"),
            ([{"nvlink_clique": "c"}, {}], None),
            ([{"nvlink_clique": "c"}, {"nvlink_clique": "d"}], None),
            ([{"nvlink_clique": "c"}, {"nvlink_clique": "d", "health": "faulted"}], "c"),
            ([{"nvlink_clique": "c"}, {"health": "faulted"}], "c"),
            ([{"nvlink_clique": "c", "health": "faulted"}], None),
        ],
    )
    def test_a_domain_is_what_all_sound_gpus_report(
        self, cards: list[Document], domain: str | None
    ) -> None:
        there = fleet(at("a", cards=[card(**each) for each in cards]))
        assert places(there)["a"].domain == domain

    def test_free_gpus_are_sound_unheld_and_on_machines_that_are_up_and_fresh(self) -> None:
        there = fleet(
            at("a", cards=[card(), card(health="faulted"), card(health="at_risk")]),
            at("b", state="draining"),
            at("c", reported_at=after(-121)),
            at("d", reported_at=after(-120), reserved_for={"a": "b"}),
            at("e", gpus=3),
            at("f", gpus=3),
            runs=[running("x", ("e", 2)), running("y", ("f", 2), state="stopped")],
        )
        assert free_gpus(there) == {"a": 2, "b": 0, "c": 0, "d": 4, "e": 1, "f": 3}

    @pytest.mark.parametrize(
        ("ports", "network", "codes"),
        [
            ("", {}, []),
            ("", {"interconnect": "nvlink"}, []),
            ("", {"interconnect": "rdma"}, ["NO_RDMA"]),
            ("-ib", {"interconnect": "rdma"}, ["NO_RDMA"]),
            ("roce", {"interconnect": "rdma"}, []),
            ("roce", {"interconnect": "infiniband"}, ["NO_RDMA"]),
            ("-ib roce", {"interconnect": "infiniband"}, ["NO_RDMA"]),
            ("", {"min_gbps": 100}, ["NO_RDMA"]),
            ("roce@200 ib@100", {"min_gbps": 200}, []),
            ("roce@200 ib@100", {"min_gbps": 201}, ["RDMA_TOO_SLOW"]),
            ("roce@200 ib@100", {"min_gbps": 200, "interconnect": "infiniband"}, ["RDMA_TOO_SLOW"]),
            ("-ib@400 ib@100", {"min_gbps": 200}, ["RDMA_TOO_SLOW"]),
        ],
    )
    def test_ports_are_up_of_the_kind_and_fast_enough(
        self, ports: str, network: Document, codes: list[str]
    ) -> None:
        (host,) = fleet(at("a", ports=ports)).fleet.machines
        assert bad_ports(host, asks(network=network)) == codes


class TestLadder:
    @pytest.mark.parametrize(
        ("one", "other", "level", "name"),
        [
            ({"site": "s"}, {"site": "t"}, None, None),
            ({"site": "s"}, {}, None, None),
            ({"clique": "c", "site": "s"}, {"clique": "c"}, None, None),
            ({"clique": "c", "rack": "r"}, {"clique": "c"}, 2, "c"),
            ({"rack": "r", "fabric": "f", "ports": "ib"},) * 2 + (3, "f/r"),
            ({"rack": "r", "ports": "ib:x"},) * 2 + (3, "x/r"),
            ({"fabric": "x", "ports": "ib"}, {"ports": "ib:x"}, 4, "x"),
            ({"rack": "r", "ports": "ib:x"}, {"rack": "q", "ports": "ib:x"}, 4, "x"),
            ({"rack": "r", "ports": "ib"},) * 2 + (5, "infiniband/r"),
            ({"rack": "r", "ports": "ib roce"}, {"rack": "r", "ports": "roce"}, 5, "roce/r"),
            ({"rack": "r", "fabric": "f", "ports": "roce"},) * 2 + (5, "f/r"),
            ({"rack": "r", "ports": "ib roce"}, {"ports": "ib roce"}, 6, "infiniband"),
            ({"fabric": "f", "ports": "roce"}, {"fabric": "f", "ports": "roce ib"}, 6, "f"),
            ({"rack": "r", "ports": "ib:x"}, {"rack": "r", "ports": "ib:y"}, 7, "r"),
            ({"rack": "r", "ports": "ib:x"}, {"rack": "r", "ports": "ib"}, 7, "r"),
            ({"rack": "r", "fabric": "f", "ports": "ib"}, {"rack": "r", "ports": "ib"}, 7, "r"),
            ({"fabric": "f", "ports": "-ib"}, {"fabric": "f", "ports": "ib"}, 8, None),
            ({"rack": "r"}, {"rack": "q"}, 8, None),
            ({"network": "s"}, {"site": "s"}, 8, "s"),
            ({"rack": "r", "clique": "c"}, {"rack": "r", "clique": "d"}, 7, "r"),
        ],
    )
    def test_the_rung_and_the_name_of_two_machines(
        self, one: Document, other: Document, level: int | None, name: str | None
    ) -> None:
        there = fleet(at("a", **one), at("b", **other))
        assert rung(there, ["a", "b"]) == rung(there, ["b", "a", "b"]) == level
        assert rung(there, ["a"]) == rung(there, ["a", "a"]) == 1
        if level:
            assert group_of(places(there), asks(8), ["b", "a"]) == (name, frozenset("ab"))

    def test_three_machines_stand_on_the_rung_of_what_all_share(self) -> None:
        there = fleet(
            at("a", "r", clique="c", ports="ib:x"),
            at("b", "r", clique="c", ports="ib:x"),
            at("c", "r", clique="d", ports="ib:x"),
        )
        assert [rung(there, list(hosts)) for hosts in ("ab", "bc", "abc")] == [2, 3, 3]

    def test_a_group_is_all_that_is_joined_so_in_the_site(self) -> None:
        there = fleet(
            at("a", "r", clique="c", ports="ib:x"),
            at("b", "r", clique="c", ports="ib:x"),
            at("c", "r", ports="ib:x"),
            at("d", "q", ports="ib:x"),
            at("e", "r"),
            at("f", "q"),
            at("g", "r", clique="c", ports="ib:x", site="far"),
        )
        found = {
            hosts: "".join(sorted(group_of(places(there), asks(8), list(hosts)).hosts))
            for hosts in ("a", "c", "ab", "ac", "ad", "ae", "af")
        }
        assert found == {
            "a": "ab", "c": "", "ab": "ab", "ac": "abc", "ad": "abcd", "ae": "abce", "af": "abcdef",
        }  # fmt: skip

    def test_a_group_is_within_the_unit_that_the_run_keeps_to(self) -> None:
        there = fleet(
            at("a", "r", clique="c", ports="ib:x"),
            at("b", "r", clique="c", ports="ib:x"),
            at("c", "q", clique="c", ports="ib:y"),
        )
        for kept, hosts in {
            None: "abc",
            "nvlink_domain": "abc",
            "rack": "ab",
            "fabric": "ab",
        }.items():
            run = asks(8, topology={"keep_within": kept})
            assert group_of(places(there), run, ["a", "b"]).hosts == set(hosts)
        on_one = asks(8, topology={"keep_within": "rack"})
        assert group_of(places(there), on_one, ["a", "a"]) == ("c", frozenset("abc"))

    def test_room_left_is_the_groups_free_gpus_less_the_runs_own(self) -> None:
        there = fleet(
            at("a", "r", clique="c"),
            at("b", "r", clique="c", gpus=2),
            at("c", "r", gpus=3),
            at("d", "r", state="down"),
            runs=[running("x", ("a", 1))],
        )

        def left(run: Run, *hosts: str) -> int:
            return room_left(places(there), free_gpus(there), run, hosts)

        assert [left(asks(2), "a"), left(asks(2), "c"), left(asks(), "b")] == [3, 0, 5]
        assert [left(asks(4), "a", "b"), left(asks(4), "a", "c")] == [1, 4]


NOTHING = [(1, 8), (2, 4), (4, 2), (8, 1)]


class TestShapes:
    @pytest.mark.parametrize(
        ("run", "cut"),
        [
            (asks(8), NOTHING),
            (asks(6), [(1, 6), (2, 3), (3, 2), (6, 1)]),
            (asks(8, machines=4), [(4, 2)]),
            (asks(8, machines=3), []),
            (asks(8, machines=4, topology={"max_nodes": 2}), []),
            (asks(8, topology={"min_nodes": 2, "max_nodes": 4}), [(2, 4), (4, 2)]),
            (asks(8, topology={"min_nodes": 3, "max_nodes": 3}), []),
            (asks(8, card={"min_per_machine": 3}), [(1, 8), (2, 4)]),
            (asks(8, card={"min_per_machine": 9}), []),
            (asks(6, card={"policy": "per_node"}), [(3, 2), (6, 1)]),
            (asks(8, node_selection={"names": ["a", "b"]}), [(2, 4)]),
            (asks(9, node_selection={"names": ["a", "b"]}), []),
            (asks(8, node_selection={"names": ["a", "b"], "mode": "any"}), NOTHING),
            (asks(8, node_selection={"names": ["a", "b", "c"]}, machines=2), [(2, 4)]),
            (asks(6, array={"size": 3}), [(1, 6)]),
            (asks(6, array={"size": 3}, card={"policy": "per_node"}), []),
            (asks(), [(1, 0)]),
            (asks(topology={"min_nodes": 2}), []),
            (asks(machines=3), [(3, 0)]),
            (asks(node_selection={"count": 3}), [(3, 0)]),
            (asks(node_selection={"count": 2, "names": ["a", "b", "c"]}), [(2, 0)]),
            (asks(node_selection={"names": ["a", "b", "c"]}), [(3, 0)]),
            (asks(4, node_selection={"mode": "all"}), [(2, 2)]),
            (asks(3, node_selection={"mode": "all"}), []),
        ],
    )
    def test_the_even_cuts_that_a_run_allows(self, run: Run, cut: list[tuple[int, int]]) -> None:
        there = fleet(at("a"), at("b"), at("c", state="down"))
        assert [shape[:2] for shape in shapes(there, run)] == cut
        codes = codes_of_refusal(fleet(at("a"), at("b"), at("c"), at("d")), run)
        assert ("UNEVEN_SHAPE" in codes) == (not cut) or run.node_selection.mode == "all"

    @pytest.mark.parametrize(
        ("more", "may_share"),
        [
            ({}, True),
            ({"machines": 2}, False),
            ({"topology": {"min_nodes": 2}}, False),
            ({"topology": {"max_nodes": 2}}, False),
            ({"topology": {"spread": "node"}}, False),
            ({"topology": {"keep_within": "rack"}}, True),
            ({"card": {"policy": "per_node"}}, False),
            ({"card": {"min_per_machine": 2}}, True),
        ],
    )
    def test_workers_share_under_mode_any_where_nothing_bounds_machines(
        self, more: Document, may_share: bool
    ) -> None:
        chosen, there = {"mode": "any"}, fleet(at("a"))
        assert {s.may_share for s in shapes(there, asks(4, **more))} == {False}
        assert {s.may_share for s in shapes(there, asks(4, **more, node_selection=chosen))} == {
            may_share
        }

    def test_mode_all_is_where_a_worker_of_one_gpu_goes_when_all_is_empty(self) -> None:
        there = fleet(
            at("a", ports="ib", used={"cpu_cores": 64}),
            at("b", gpus=0, ports="ib"),
            at("c", ports="ib", constraints={"max_accelerators": 1}),
            at("d", ports="roce"),
            at("e", ports="ib", cpu_cores=2),
            runs=[running("x", ("c", 4))],
        )
        everywhere_asked = {"node_selection": {"mode": "all"}, "per_gpu": {"cpu_cores": 3}}
        run = asks(8, network={"interconnect": "infiniband"}, **everywhere_asked)
        assert everywhere(there, run) == ["a", "c"]


HERE = fleet(
    at("a", "r", "f", clique="c", ports="ib"),
    at("b", "r", "f", clique="c", ports="ib"),
    at("c", "q", "f", clique="d", ports="ib roce"),
    at("d", "q", "g", ports="roce"),
    at("e", None, "g", ports="roce"),
    at("f", "r", ports="ib:x"),
    at("g", "r", "f", site="far", ports="ib"),
)


class TestRules:
    @pytest.mark.parametrize(
        ("more", "hosts", "told"),
        [
            ({}, "ab", []),
            ({}, "ag", ["one_site"]),
            ({"topology": {"keep_within": "rack"}}, "ab", []),
            ({"topology": {"keep_within": "rack"}}, "ac", ["keep_within"]),
            ({"topology": {"keep_within": "rack"}}, "de", ["TOPOLOGY_UNLABELLED"]),
            ({"topology": {"keep_within": "rack"}}, "e", []),
            ({"topology": {"keep_within": "fabric"}}, "ac", []),
            ({"topology": {"keep_within": "fabric"}}, "ad", ["keep_within"]),
            ({"topology": {"keep_within": "fabric"}}, "af", ["keep_within"]),
            ({"topology": {"keep_within": "nvlink_domain"}}, "ab", []),
            ({"topology": {"keep_within": "nvlink_domain"}}, "ac", ["keep_within"]),
            ({"topology": {"keep_within": "nvlink_domain"}}, "ad", ["TOPOLOGY_UNLABELLED"]),
            ({"topology": {"keep_within": "node"}}, "ab", ["keep_within"]),
            ({"topology": {"keep_within": "node"}}, "e", []),
            ({"topology": {"keep_within": "node"}}, "ee", ["shape"]),
            ({"topology": {"spread": "node"}}, "ab", []),
            ({"topology": {"spread": "rack"}}, "ab", ["spread"]),
            ({"topology": {"spread": "rack"}}, "ac", []),
            ({"topology": {"spread": "rack"}}, "ae", ["TOPOLOGY_UNLABELLED"]),
            ({"topology": {"spread": "fabric"}}, "ac", ["spread"]),
            ({"topology": {"spread": "fabric"}}, "ad", []),
            ({"topology": {"spread": "fabric"}}, "de", ["spread"]),
            ({"topology": {"spread": "rack"}}, "e", []),
            ({"network": {"interconnect": "nvlink"}}, "ab", []),
            ({"network": {"interconnect": "nvlink"}}, "ac", ["interconnect"]),
            ({"network": {"interconnect": "nvlink"}}, "a", []),
            ({"network": {"interconnect": "infiniband"}}, "ac", []),
            ({"network": {"interconnect": "infiniband"}}, "af", ["interconnect"]),
            ({"network": {"interconnect": "infiniband"}}, "de", ["NO_RDMA", "interconnect"]),
            ({"network": {"interconnect": "rdma"}}, "de", []),
            ({"network": {"interconnect": "rdma"}}, "ad", ["interconnect"]),
            ({"network": {"interconnect": "rdma"}}, "cd", ["interconnect"]),
            ({"network": {"min_gbps": 401}}, "d", ["RDMA_TOO_SLOW"]),
            ({"network": {"min_gbps": 400}}, "ad", []),
            ({"node_selection": {"names": ["a"], "mode": "any"}}, "aa", []),
            ({"node_selection": {"names": ["a"], "mode": "any"}}, "ab", ["NOT_SELECTED"]),
            ({"node_selection": {"names": ["a", "b"]}}, "a", ["shape"]),
            ({"node_selection": {"mode": "any"}, "topology": {"keep_within": "node"}}, "ee", []),
            (
                {"node_selection": {"mode": "any"}, "topology": {"keep_within": "rack"}},
                "ee",
                ["TOPOLOGY_UNLABELLED"],
            ),
            ({}, "abc", ["shape"]),
        ],
    )
    def test_what_four_gpus_evenly_over_these_machines_break(
        self, more: Document, hosts: str, told: list[str]
    ) -> None:
        assert Ground(HERE).broken(asks(4, **more), 4 // len(hosts), list(hosts)) == told

    def test_infiniband_that_is_assumed_to_be_one_fabric_is_infiniband(self) -> None:
        there = Ground(
            fleet(at("a", ports="ib"), at("b", "r", ports="ib roce"), at("c", ports="roce"))
        )
        run = asks(4, network={"interconnect": "infiniband"})
        assert there.broken(run, 2, ["a", "b"]) == []
        assert there.broken(run, 2, ["b", "c"]) == ["NO_RDMA", "interconnect"]

    def test_all_ways_are_those_with_room_that_break_nothing(self) -> None:
        there = Ground(
            fleet(at("a", "r", gpus=2), at("b", "r", gpus=4), at("c", gpus=1), at("d", site="t"))
        )
        found = {
            ("".join(way.hosts), way.gpus, way.rung) for way in there.ways(asks(4), there.start)
        }
        assert found == {("b", 4, 1), ("ab", 2, 7), ("d", 4, 1)}
        shared = asks(4, node_selection={"mode": "any", "names": ["a", "b", "c"]})
        found = {
            ("".join(way.hosts), way.gpus, way.rung) for way in there.ways(shared, there.start)
        }
        assert found == {
            ("b", 4, 1), ("ab", 2, 7), ("bb", 2, 1), ("bbbb", 1, 1), ("abbb", 1, 7), ("aabb", 1, 7),
            ("bbbc", 1, 8), ("abbc", 1, 8), ("aabc", 1, 8),
        }  # fmt: skip

    @pytest.mark.parametrize(("waited", "levels"), [(0, {2}), (599, {2}), (600, {2, 7, 8})])
    def test_patience_takes_only_the_tightest_rung_of_the_empty_fleet(
        self, waited: int, levels: set[int]
    ) -> None:
        machines = [at("a", "r", clique="c"), at("b", "r", clique="c"), at("c", "r"), at("d")]
        there = Ground(fleet(*machines, runs=[running("x", ("b", 2))]))
        wanted = {"patience_s": 600, "min_nodes": 2, "max_nodes": 2}
        run = asks(4, submitted_at=after(-waited), topology=wanted)
        assert there.tightest(run) == 2
        assert {way.rung for way in there.lawful(run, there.start)} == levels

    def test_patience_waits_where_that_rung_is_taken(self) -> None:
        machines = [at("a", "r", clique="c"), at("b", "r", clique="c"), at("c", "r")]
        there = Ground(fleet(*machines, runs=[running("x", ("b", 3))]))
        run = asks(4, machines=2, topology={"patience_s": 600})
        assert there.lawful(run, there.start) == []
        alone = asks(4, topology={"patience_s": 600})  # one machine: the tightest of all
        assert {way.hosts for way in there.lawful(alone, there.start)} == {("a",), ("c",)}
