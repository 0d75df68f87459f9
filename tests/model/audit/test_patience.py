from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.audit import audit
from stowplan.model.audit.alone import EmptyFleet
from stowplan.model.audit.plan import Plan
from stowplan.model.snapshot import Snapshot
from tests.build import Document, Place, after, broken, decided, machine, run, running, snapshot
from tests.model.audit.bought import by_rate, market, offering, priced
from tests.model.audit.standing import port, stands, two_racks

IB = port()


def patient(gpus: int | Document = 16, seconds: int = 60, **more: Any) -> Document:
    topology = {"patience_s": seconds, **more.pop("topology", {})}
    return run("x", gpus, topology=topology, **more)


def on(*names: str) -> dict[str, list[Place]]:
    return {"x": [(name, 16 // len(names)) for name in names]}


def test_a_patient_run_takes_the_tightest_rung_that_it_could_get() -> None:
    s = snapshot(two_racks(), [patient()])
    assert audit(s, decided(s, on("a", "b"))) == ()
    assert audit(s, decided(s, on("c", "d"))) == ()
    assert broken(s, decided(s, on("a", "c"))) == {"patience"}
    assert broken(s, decided(s, on("a", "b", "c", "d"))) == {"patience"}


def test_it_may_wait_for_it_while_others_are_there() -> None:
    there = [running("y", ("b", 1)), running("z", ("d", 1)), patient()]
    s = snapshot(two_racks(), there)
    assert audit(s, decided(s)) == ()
    assert broken(s, decided(s, on("a", "c"))) == {"patience"}


def test_its_patience_ends() -> None:
    for submitted, rules in ((-59, {"patience"}), (-60, set()), (-61, set())):
        s = snapshot(two_racks(), [patient(submitted_at=after(submitted))])
        assert broken(s, decided(s, on("a", "c"))) == rules


def test_a_run_without_patience_takes_what_there_is() -> None:
    s = snapshot(two_racks(), [patient(seconds=0)])
    assert audit(s, decided(s, on("a", "c"))) == ()


def test_machines_that_would_never_take_it_are_no_reason_to_wait() -> None:
    closed = [*two_racks()[:3], stands("d", IB, rack="r2", fabric="ib-0", state="cordoned")]
    closed[1] = stands("b", IB, rack="r1", fabric="ib-0", gpus=4)
    s = snapshot(closed, [patient(machines=2)])
    assert audit(s, decided(s, on("a", "c"))) == ()


def tightest(s: Snapshot) -> int | None:
    """The tightest rung that the run x could get."""
    [asked] = (each for each in s.runs if each.name == "x")
    return EmptyFleet(Plan.of(s, decided(s))).tightest(asked)


@pytest.mark.parametrize(
    ("asked", "rung"),
    [
        (patient(8), 1),
        (patient(16), 3),
        (patient(32), 4),
        (patient(64), None),
        (patient(8, topology={"min_nodes": 2}), 3),
        (patient(8, topology={"min_nodes": 3}), 4),
        (patient(16, topology={"spread": "rack"}), 4),
        (patient(24, machines=3, topology={"spread": "rack"}), None),
        (patient(16, topology={"spread": "fabric"}), None),
        (patient(16, topology={"keep_within": "rack"}), 3),
        (patient(32, topology={"keep_within": "rack"}), None),
        (patient(32, topology={"keep_within": "fabric"}), 4),
        (patient(16, topology={"keep_within": "node"}), None),
        (patient(16, topology={"keep_within": "nvlink_domain"}), None),
        (patient(16, network={"interconnect": "infiniband"}), 3),
        (patient(16, network={"interconnect": "nvlink"}), None),
        (patient(16, network={"min_gbps": 401}), None),
        (patient(16, node_selection={"names": ["a", "c"]}), 4),
        (patient(32, node_selection={"mode": "all"}), 4),
        (patient(16, node_selection={"mode": "all", "names": ["c", "d"]}), 3),
        (patient(16, node_selection={"mode": "any"}), 3),
        (patient(8, machines=2, node_selection={"mode": "any"}), 3),
        (patient(0, machines=3), 4),
        (patient(0, machines=2), 3),
        (patient(0, node_selection={"count": 3, "mode": "any"}), 1),
        (patient({"ids": ["a/0", "a/1", "b/0", "b/1"]}, topology={}), 3),
    ],
    ids=str,
)
def test_the_tightest_rung_of_a_run_on_two_racks(asked: Document, rung: int | None) -> None:
    assert tightest(snapshot(two_racks(), [asked])) == rung


@pytest.mark.parametrize(
    ("machines", "rung"),
    [
        ([stands("a", domain="d"), stands("b", domain="d"), *two_racks()[2:]], 2),
        ([stands("a", rack="r"), stands("b", rack="r")], 7),
        ([stands("a", rack="r"), stands("b", rack="q")], 8),
        ([stands("a", site="s"), stands("b", site="t")], None),
        ([stands("a", domain="d", site="s"), stands("b", domain="d", site="t")], None),
        ([stands("a", IB, rack="r"), stands("b", IB, rack="r")], 5),
        ([stands("a", port("roce"), fabric="f"), stands("b", port("roce"), fabric="f")], 6),
        ([stands("a", IB, fabric="f"), stands("b", IB, fabric="g"), machine("c")], 8),
    ],
)
def test_the_tightest_rung_of_sixteen_gpus(machines: list[Document], rung: int | None) -> None:
    assert tightest(snapshot(machines, [patient()])) == rung


def test_a_strict_queue_waits_for_a_gang_that_could_start_and_not_for_one_that_never_could() -> (
    None
):
    for gpus, rules in ((32, {"queue"}), (64, set())):
        asked = [run("x", gpus, priority=1, topology={}), run("y", 1)]
        s = snapshot(two_racks(), asked, policy={"queue": "strict"})
        assert broken(s, decided(s, {"y": [("a", 1)]})) == rules


def test_it_buys_nothing_that_machines_could_ever_take() -> None:
    asked = run("x", 16, machines=2, topology={"patience_s": 60})
    bought: dict[str, list[Place]] = {"x": [("a100#1", 8), ("a100#2", 8)]}
    values = {"x": by_rate("7.20")}
    for machines, rules in ((("m", "n"), {"patience"}), (("m",), set())):
        own = [machine(name, 8) for name in machines]
        s = market([offering(available=2)], [asked], own)
        assert broken(s, priced(s, bought, "7.20", values=values)) == rules
