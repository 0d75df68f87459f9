from __future__ import annotations

import pytest

from stowplan.model.audit import audit
from stowplan.model.decision import ChosenShape
from tests.build import Document, altered, broken, decided, run, snapshot
from tests.model.audit.bought import by_rate, market, offering, priced, work
from tests.model.audit.standing import port, stands, two_racks

PAIR = [("a", 8), ("b", 8)]


@pytest.mark.parametrize(
    ("machines", "rung", "group"),
    [
        (two_racks(), 3, "ib-0/r1"),
        ([stands("a", domain="d"), stands("b", domain="d")], 2, "d"),
        ([stands("a", port()), stands("b", port())], 6, "infiniband"),
        ([stands("a"), stands("b")], 8, None),
        ([stands("a", site="s"), stands("b", site="s")], 8, "s"),
    ],
)
def test_a_gang_tells_the_rung_and_the_group_of_its_machines(
    machines: list[Document], rung: int, group: str | None
) -> None:
    s = snapshot(machines, [run("x", 16, topology={})])
    right = decided(s, {"x": PAIR})
    assert audit(s, altered(s, right, "x", rung=rung, group=group)) == ()
    for other in (1, rung - 1, rung + 1, None):
        assert broken(s, altered(s, right, "x", rung=other, group=group)) == {"ladder"}
    assert broken(s, altered(s, right, "x", rung=rung, group="elsewhere")) == {"ladder"}


def test_one_worker_tells_rung_1_and_its_domain() -> None:
    s = snapshot([stands("a", domain="d"), stands("b")], [run("x", 8), run("y", 8)])
    right = decided(s, {"x": [("a", 8)], "y": [("b", 8)]})
    assert audit(s, altered(s, right, "x", rung=1, group="d")) == ()
    assert broken(s, altered(s, right, "x", rung=1, group=None)) == {"ladder"}
    assert broken(s, altered(s, right, "x", rung=None, group="d")) == {"ladder"}
    assert broken(s, altered(s, right, "y", rung=1, group="d")) == {"ladder"}


def test_an_array_tells_rung_1_on_one_machine_and_else_none() -> None:
    s = snapshot(
        [stands("a", domain="d"), stands("b", domain="d")], [run("x", 4, array={"size": 2})]
    )
    one = decided(s, {"x": [("a", 4), ("a", [f"a/{n}" for n in range(4, 8)])]})
    assert audit(s, altered(s, one, "x", rung=1, group=None)) == ()
    assert broken(s, altered(s, one, "x", rung=None, group=None)) == {"ladder"}
    assert broken(s, altered(s, one, "x", rung=1, group="d")) == {"ladder"}
    two = decided(s, {"x": [("a", 4), ("b", 4)]})
    assert audit(s, altered(s, two, "x", rung=None, group=None)) == ()
    assert broken(s, altered(s, two, "x", rung=2, group="d")) == {"ladder"}


def test_what_is_bought_tells_neither() -> None:
    s = market([offering()], [work("x", 8)])
    right = priced(s, {"x": [("a100#1", 8)]}, "3.60", values={"x": by_rate("3.60")})
    assert audit(s, right) == ()
    rate = right.summary.usd_per_hour
    for told in ({"rung": 1}, {"group": "d"}):
        wrong = altered(s, right, "x", **told)
        summary = wrong.summary.model_copy(update={"usd_per_hour": rate})
        assert broken(s, wrong.model_copy(update={"summary": summary})) == {"ladder"}


WHY = "2 machines x 8 GPUs on InfiniBand fabric ib-0, rack r1"


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        (WHY, " "),
        ("2 machines", "12 machines"),
        ("2 machines", "2 machinesful"),
        ("8 GPUs", "4 GPUs"),
        ("8 GPUs", "1,008 GPUs"),
        ("InfiniBand fabric ib-0", "RoCE fabric ib-0"),
        ("ib-0", "ib-01"),
        (", rack r1", ""),
        ("rack r1", "rack r2"),
        ("on InfiniBand fabric ib-0,", "over Ethernet in"),
    ],
)
def test_words_of_why_that_are_not_those_of_the_machines_are_refused(
    said: str, instead: str
) -> None:
    s = snapshot(two_racks(), [run("x", 16, topology={})])
    right = decided(s, {"x": PAIR})
    told = ChosenShape(tasks=2, gpus_each=8, why=WHY)
    assert audit(s, altered(s, right, "x", shape=told)) == ()
    told = ChosenShape(tasks=2, gpus_each=8, why=WHY.replace(said, instead))
    assert broken(s, altered(s, right, "x", shape=told)) == {"ladder"}


@pytest.mark.parametrize(
    ("machines", "why"),
    [
        ([stands(name, domain="d") for name in "ab"], "in NVLink domain d"),
        ([stands(name, port("roce"), fabric="f") for name in "ab"], "on RoCE fabric f"),
        ([stands(name, port()) for name in "ab"], "on InfiniBand, taken as one fabric"),
        ([stands(name, rack="r1") for name in "ab"], "over Ethernet in rack r1"),
        ([stands(name) for name in "ab"], "over Ethernet"),
    ],
)
def test_what_joins_the_machines_is_named(machines: list[Document], why: str) -> None:
    s = snapshot(machines, [run("x", 16, topology={})])
    right = decided(s, {"x": PAIR})
    told = ChosenShape(tasks=2, gpus_each=8, why=f"2 machines x 8 GPUs {why}")
    assert audit(s, altered(s, right, "x", shape=told)) == ()
    told = ChosenShape(tasks=2, gpus_each=8, why="2 machines x 8 GPUs")
    assert broken(s, altered(s, right, "x", shape=told)) == {"ladder"}
