from __future__ import annotations

import pytest

from stowplan.model.audit import audit
from stowplan.model.snapshot import Snapshot
from tests.build import broken, decided, run, snapshot
from tests.model.audit.standing import port, stands

MACHINES = [
    stands("a", port(), rack="r1", fabric="f", domain="d"),
    stands("b", port(), rack="r1", fabric="g", domain="d"),
    stands("c", port(), rack="r2", fabric="f"),
    stands("d"),
]


def asked(unit: str, gpus: int = 16, **more: object) -> Snapshot:
    return snapshot(MACHINES, [run("x", gpus, topology={"keep_within": unit}, **more)])


@pytest.mark.parametrize(
    ("unit", "other"), [("nvlink_domain", "b"), ("rack", "b"), ("fabric", "c")]
)
def test_two_machines_of_one_unit_will_do(unit: str, other: str) -> None:
    s = asked(unit)
    assert audit(s, decided(s, {"x": [("a", 8), (other, 8)]})) == ()


@pytest.mark.parametrize(
    ("unit", "other"),
    [("nvlink_domain", "c"), ("rack", "c"), ("fabric", "b")]
    + [(unit, "d") for unit in ("nvlink_domain", "rack", "fabric")],
)
def test_a_run_that_leaves_its_unit_or_is_where_none_is_told_is_refused(
    unit: str, other: str
) -> None:
    s = asked(unit)
    assert broken(s, decided(s, {"x": [("a", 8), (other, 8)]})) == {"keep_within"}


def test_kept_within_a_machine_it_is_on_one() -> None:
    s = asked("node", 8)
    assert audit(s, decided(s, {"x": [("a", 8)]})) == ()
    assert broken(s, decided(s, {"x": [("a", 4), ("b", 4)]})) == {"keep_within"}


def test_workers_that_may_share_may_all_be_on_one_machine() -> None:
    s = asked("node", 8, node_selection={"mode": "any"})
    halves = [("a", [f"a/{n}" for n in range(4)]), ("a", [f"a/{n}" for n in range(4, 8)])]
    assert audit(s, decided(s, {"x": halves})) == ()


def test_workers_that_share_a_machine_of_which_nothing_is_told_are_refused() -> None:
    for name, rules in (("a", set()), ("d", {"keep_within"})):
        s = asked("rack", 2, node_selection={"mode": "any"})
        halves = [(name, [f"{name}/0"]), (name, [f"{name}/1"])]
        assert broken(s, decided(s, {"x": halves})) == rules


@pytest.mark.parametrize("unit", ["node", "nvlink_domain", "fabric", "rack"])
def test_one_worker_is_within_any_unit_told_or_not(unit: str) -> None:
    s = asked(unit, 8)
    assert audit(s, decided(s, {"x": [("d", 8)]})) == ()


def test_a_fabric_that_is_assumed_is_one() -> None:
    machines = [stands("a", port()), stands("b", port()), stands("c", port("roce"))]
    s = snapshot(machines, [run("x", 16, topology={"keep_within": "fabric"})])
    assert audit(s, decided(s, {"x": [("a", 8), ("b", 8)]})) == ()
    assert broken(s, decided(s, {"x": [("a", 8), ("c", 8)]})) == {"keep_within"}
