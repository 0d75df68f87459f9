"""Where machines stand, where the ladder puts runs, and what is found wrong with an answer."""

from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.snapshot import Snapshot
from tests.bench.gangs.checking import check, wrong
from tests.bench.gangs.ground import rung_of, spots_of
from tests.bench.gangs.ladder import Room, ladder
from tests.bench.gangs.runs import Placed, cuts_of, weight_by_tier, weight_of
from tests.build import after, card, machine, run, running, snapshot

type Document = dict[str, Any]  # Any: what a document holds


def stood(name: str, gpus: int = 8, *, port: str | None = "infiniband", **where: str) -> Document:
    """Return a machine with its labels, one port, and the clique of its GPUs."""
    clique = where.pop("domain", None)
    ports = [{"kind": port, "rate_gbps": 400}] if port else []
    labels = {f"topology/{what}": which for what, which in where.items()}
    return machine(name, [card(nvlink_clique=clique)] * gpus, rdma=ports, labels=labels)


def gang(name: str, gpus: int, **more: Any) -> Document:
    """Return a run that says nothing of its machines but what is given."""
    return {"name": name, "gpus": {"count": gpus}, **more}


def rung(*machines: Document) -> int | None:
    return rung_of(spots_of(snapshot(machines, []).fleet))


BOTH: Document = {"rack": "r", "fabric": "f"}
PAIRS: list[tuple[int | None, Document, Document]] = [
    (2, stood("a", domain="d", **BOTH), stood("b", domain="d", rack="s", fabric="g")),
    (3, stood("a", **BOTH), stood("b", **BOTH)),
    (4, stood("a", **BOTH), stood("b", rack="s", fabric="f")),
    (4, stood("a", **BOTH), stood("b", fabric="f")),
    (5, stood("a", rack="r"), stood("b", rack="r")),
    (5, stood("a", port="roce", **BOTH), stood("b", port="roce", **BOTH)),
    (6, stood("a", port="roce"), stood("b", port="roce")),
    (7, stood("a", port="roce", **BOTH), stood("b", **BOTH)),
    (7, stood("a", port=None, **BOTH), stood("b", **BOTH)),
    (8, stood("a", **BOTH), stood("b")),
    (8, stood("a", port="roce"), stood("b")),
    (None, stood("a", site="x", **BOTH), stood("b", site="y", **BOTH)),
]


@pytest.mark.parametrize(("expected", "one", "other"), PAIRS)
def test_two_machines_are_on_the_rung_that_the_words_of_the_ladder_say(
    expected: int | None, one: Document, other: Document
) -> None:
    assert rung(one, other) == expected


def test_one_machine_is_on_the_first_rung() -> None:
    assert rung(stood("a")) == 1


def test_a_run_is_cut_in_every_even_way_that_it_allows() -> None:
    asked: list[tuple[Document, list[tuple[int, int]]]] = [
        ({}, [(1, 12), (2, 6), (3, 4), (4, 3), (6, 2), (12, 1)]),
        ({"machines": 3}, [(3, 4)]),
        ({"gpus": {"count": 12, "min_per_machine": 4}}, [(1, 12), (2, 6), (3, 4)]),
        ({"topology": {"min_nodes": 2, "max_nodes": 4}}, [(2, 6), (3, 4), (4, 3)]),
    ]
    for more, cuts in asked:
        (only,) = snapshot([], [{"name": "r", "gpus": {"count": 12}, **more}]).runs
        assert cuts_of(only) == cuts


def answers(machines: list[Document], *runs: Document) -> dict[str, Placed]:
    """Return where the ladder puts runs, checked."""
    asked = snapshot(machines, runs)
    answer = dict(ladder(asked))
    check(asked, answer)
    return answer


def test_a_gang_takes_the_tightest_rung_before_the_fewest_machines() -> None:
    near = [stood(f"n{number}", 2, **BOTH) for number in range(4)]
    far = [stood(f"f{number}", 4, rack=f"r{number}") for number in range(2)]
    found = answers(near + far, gang("g", 8))
    assert found == {"g": Placed(("n0", "n1", "n2", "n3"), 3)}


def test_of_groups_on_a_rung_the_one_with_the_least_room_is_taken() -> None:
    wide = [stood(f"w{number}", rack="w", fabric="f") for number in range(3)]
    narrow = [stood(f"n{number}", rack="n", fabric="f") for number in range(2)]
    assert answers(wide + narrow, gang("g", 16))["g"].hosts == ("n0", "n1")


def test_a_run_on_one_machine_takes_the_fullest_that_it_fits_on() -> None:
    machines = [stood("a", 8), stood("b", 4), stood("c", 2)]
    assert answers(machines, run("r", 3))["r"] == Placed(("b",), 1)


def test_what_does_not_fit_is_passed_over_and_a_higher_priority_goes_first() -> None:
    machines = [stood("a", 4, **BOTH)]
    found = answers(
        machines,
        run("late", 4, priority=1),
        run("early", 4, submitted_at=after(-60)),
        gang("large", 8, priority=2),
    )
    assert found.keys() == {"late"}


RULES: list[tuple[Document, set[str] | None]] = [
    ({"machines": 2, "topology": {"keep_within": "nvlink_domain"}}, {"d0", "d1"}),
    ({"machines": 3, "topology": {"keep_within": "nvlink_domain"}}, None),
    ({"machines": 3, "topology": {"keep_within": "rack"}}, {"d0", "d1", "i0"}),
    ({"machines": 4, "topology": {"keep_within": "rack"}}, None),
    ({"machines": 4, "topology": {"keep_within": "fabric"}}, {"d0", "d1", "i0", "i1"}),
    ({"machines": 5, "topology": {"keep_within": "fabric"}}, None),
    ({"machines": 4, "network": {"interconnect": "infiniband"}}, {"d0", "d1", "i0", "i1"}),
    ({"machines": 5, "network": {"interconnect": "rdma"}}, None),
    ({"machines": 3, "network": {"interconnect": "nvlink"}}, None),
    ({"machines": 1, "network": {"interconnect": "infiniband", "min_gbps": 401}}, None),
    ({"machines": 5}, {"d0", "d1", "i0", "i1", "e0"}),
]


@pytest.mark.parametrize(("asked", "hosts"), RULES)
def test_the_ladder_keeps_to_rules(asked: Document, hosts: set[str] | None) -> None:
    machines = [
        stood("e0", port=None),
        stood("d0", domain="d", **BOTH),
        stood("d1", domain="d", **BOTH),
        stood("i0", **BOTH),
        stood("i1", rack="s", fabric="f"),
    ]
    gpus = 8 * asked["machines"]
    found = answers(machines, gang("g", gpus, **asked)).get("g")
    assert (found and set(found.hosts)) == hosts


def test_gpus_at_risk_go_first_to_runs_that_may_use_them() -> None:
    sick = machine("a", [card(), card(health="at_risk"), card(health="faulted")])
    asked = snapshot([sick], [running("held", ("a", ["a/0"]))])
    assert Room.of(asked).free.tolist() == [1]
    assert Room.of(asked).sound.tolist() == [0]
    runs = [run("any", 1, priority=1), run("sound", {"count": 1, "healthy_only": True})]
    assert answers([sick], *runs).keys() == {"any", "sound"}


WRONG: list[tuple[Document, Placed, str]] = [
    ({"machines": 2}, Placed(("a",), 1), "g: 1 workers"),
    ({"machines": 2}, Placed(("a", "a"), 3), "g: two workers on one machine"),
    ({"machines": 2}, Placed(("a", "b"), 4), "g: on rung 3, said to be on 4"),
    ({"machines": 2}, Placed(("a", "e"), 7), "g: on rung 8, said to be on 7"),
    ({"machines": 2}, Placed(("a", "small"), 8), "small: 8 GPUs taken, 1 free"),
    (
        {"machines": 2, "topology": {"keep_within": "rack"}},
        Placed(("a", "c"), 4),
        "g: leaves its rack",
    ),
    (
        {"machines": 2, "network": {"interconnect": "infiniband"}},
        Placed(("a", "e"), 8),
        "g: a machine that it may not use",
    ),
    (
        {"machines": 2, "network": {"interconnect": "nvlink"}},
        Placed(("a", "b"), 3),
        "g: not joined by nvlink",
    ),
]


@pytest.mark.parametrize(("asked", "placed", "told"), WRONG)
def test_what_is_wrong_with_an_answer_is_found(asked: Document, placed: Placed, told: str) -> None:
    machines = [
        stood("a", **BOTH),
        stood("b", **BOTH),
        stood("c", rack="s", fabric="f"),
        stood("e", port=None),
        stood("small", 1),
    ]
    about = snapshot(machines, [gang("g", 16, **asked)])
    assert told in list(wrong(about, {"g": placed}, spots_of(about.fleet)))


def test_sound_gpus_are_counted_apart() -> None:
    sick = machine("a", [card(), card(health="at_risk")])
    about = snapshot([sick], [run("r", {"count": 2, "healthy_only": True})])
    found = list(wrong(about, {"r": Placed(("a",), 1)}, spots_of(about.fleet)))
    assert found == ["a: 2 sound GPUs taken, 1 free"]


def test_a_run_weighs_its_gpus_and_twice_that_after_the_time_of_ageing() -> None:
    asked: Snapshot = snapshot(
        [], [run("new", 4, priority=1), run("old", 4, submitted_at=after(-21600))]
    )
    assert [weight_of(each, asked) for each in asked.runs] == [32, 64]
    assert weight_by_tier(asked, {"old": Placed(("a",), 1)}) == (0, 64)
