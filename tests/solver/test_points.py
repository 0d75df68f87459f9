"""Every row of the table of points, worked out by hand. All figures are thousandths of a point."""

from __future__ import annotations

from typing import Any

import pytest

from stowplan.solver import points
from stowplan.solver.points import Load
from tests.build import GIB, Document, card, machine, run, running, snapshot
from tests.solver.cycles import (
    class_of,
    grid_of,
    host_of,
    placed,
    solved,
)

BARE: Document = {"cpu_cores": 0, "memory_bytes": 0}
"""A machine with these earns nothing for what is left free."""


def _standing(
    home: Document, asked: Document | None = None, *others: Document, **fleet: Any
) -> int:
    """The points of a run on its machine that don't depend on what else is placed there."""
    grid = grid_of(snapshot([home, *others], [asked or run("a")], **fleet))
    return points.standing(class_of(grid, "a").ask, host_of(grid, home["name"]))


def _alone(home: Document, asked: Document, *more: Document, at_risk: int = 0) -> int:
    """The points of one worker that is alone in this cycle on its machine."""
    grid = grid_of(snapshot([home], [asked, *more]))
    ask, host = class_of(grid, asked["name"]).ask, host_of(grid, home["name"])
    return points.of_worker(ask, host, Load().plus(ask, host, at_risk), at_risk)


# A machine kept for labels: +100, less 5 for each label.


@pytest.mark.parametrize(
    ("kept", "expected"),
    [({}, 0), ({"a": "1"}, 95_000), ({"a": "1", "b": "2"}, 90_000)],
)
def test_a_machine_kept_for_labels_earns_100_less_5_for_each(
    kept: dict[str, str], expected: int
) -> None:
    asked = run("a", node_selection={"match_labels": kept})
    assert _standing(machine("m", reserved_for=kept), asked) == expected


def test_more_than_twenty_labels_cost_more_than_the_machine_earns() -> None:
    kept = {f"label-{n}": "1" for n in range(21)}
    asked = run("a", node_selection={"match_labels": kept})
    assert _standing(machine("m", reserved_for=kept), asked) == 100_000 - 21 * 5_000  # -5 points


# GPUs packed: up to +50, the share of the machine's GPUs in use.


@pytest.mark.parametrize(
    ("gpus", "held", "asked", "expected"),
    [
        (8, 0, 8, 50_000),  # 50000 // 8 = 6250, times 8
        (8, 0, 1, 6_250),
        (8, 3, 2, 31_250),  # 3 held and 2 given: 5 x 6250
        (3, 0, 3, 49_998),  # 50000 // 3 = 16666, rounded down before it is multiplied
        (7, 6, 1, 49_994),  # 50000 // 7 = 7142, times 7
    ],
)
def test_gpus_in_use_earn_their_share_of_50(
    gpus: int, held: int, asked: int, expected: int
) -> None:
    there = [running("r", ("m", held))] if held else []
    assert _alone(machine("m", gpus, **BARE), run("a", asked), *there) == expected


def test_gpus_given_to_others_in_this_cycle_count_for_each_worker() -> None:
    # Both workers see 2 + 1 of 4 GPUs in use: 3 x 12500 each.
    s = snapshot([machine("m", 4, **BARE)], [run("a", 2), run("b", 1)])
    assert placed(s, "a").scores.points == 37.5
    assert placed(s, "b").scores.points == 37.5


def test_faulted_and_withheld_gpus_are_gpus_of_the_machine() -> None:
    cards = [card(), card(health="faulted"), card(), card()]
    home = machine("m", cards, constraints={"denied_devices": ["m/2"]}, **BARE)
    assert _alone(home, run("a", 2)) == 25_000  # 2 of 4


# A worker without GPUs on a machine that has some: -30.


def test_a_worker_without_gpus_costs_30_on_a_machine_with_gpus() -> None:
    assert _standing(machine("m", 1)) == -30_000
    assert _standing(machine("m", 1), run("a", 1)) == 0
    assert _standing(machine("m")) == 0


def test_a_worker_without_gpus_earns_nothing_for_packed_gpus() -> None:
    assert _alone(machine("m", 2, **BARE), run("a"), running("r", ("m", 2))) == -30_000


# Cores and memory left free: up to +25 each, the share of the whole.


@pytest.mark.parametrize(
    ("asked", "used", "expected"),
    [
        ({}, {}, 25_000),  # all 8 cores are left
        ({"cpu_cores": 8}, {}, 0),
        ({"cpu_cores": 2}, {}, 18_750),  # 6 of 8: 25000 - 6250
        ({"cpu_cores": 2}, {"cpu_cores": 1}, 15_625),  # 7 of 8 are free, 21875, less 6250
        ({"cpu_cores": 0.001}, {}, 24_997),  # 25000 x 1 // 8000 = 3
        ({"cpu_cores": 3}, {"cpu_cores": 0.001}, 15_621),  # 25000 x 7999 // 8000 = 24996, - 9375
        ({}, {"cpu_cores": 9}, 0),  # overdrawn: as if none were free
    ],
)
def test_cores_left_free_earn_their_share_of_25(
    asked: Document, used: Document, expected: int
) -> None:
    home = machine("m", cpu_cores=8, memory_bytes=0, used=used)
    assert _alone(home, run("a", **asked)) == expected


def test_memory_left_free_earns_its_share_of_25() -> None:
    home = machine("m", cpu_cores=0, memory_bytes=7, used={"memory_bytes": 1})
    # 25000 x 6 // 7 = 21428 at the start, less 25000 x 2 // 7 = 7142.
    assert _alone(home, run("a", memory_bytes=2)) == 14_286


def test_what_runs_hold_is_not_left_free() -> None:
    held = running("r", ("m", 0), cpu_cores=4, memory_bytes=GIB)
    home = machine("m", cpu_cores=8, memory_bytes=4 * GIB)
    assert _alone(home, run("a"), held) == 12_500 + 18_750


def test_what_others_take_in_this_cycle_is_not_left_free_to_anyone() -> None:
    # Both see 8 - 2 - 4 of 8 cores: 25000 - 6250 - 12500.
    home = machine("m", cpu_cores=8, memory_bytes=0)
    s = snapshot([home], [run("a", cpu_cores=2), run("b", cpu_cores=4)])
    assert placed(s, "a").scores.points == 6.25
    assert placed(s, "b").scores.points == 6.25


def test_the_ask_for_each_gpu_counts_as_the_fixed_one_does() -> None:
    home = machine("m", 2, cpu_cores=8, memory_bytes=0)
    asked = run("a", 2, cpu_cores=1, per_gpu={"cpu_cores": 1.5})
    assert _alone(home, asked) == 50_000 + 25_000 - 12_500  # both GPUs; 4 of 8 cores


# Each GPU at risk: -60.


def test_each_gpu_at_risk_costs_60() -> None:
    home = machine("m", [card(), card(health="at_risk"), card(health="at_risk")], **BARE)
    s = snapshot([home], [run("a", 2)])
    # One sound GPU and one at risk: 2 x 16666 - 60000.
    assert placed(s, "a").scores.points == -26.668
    assert [each.objective for each in solved(s).chain.stages if each.name == "points"] == [-26_668]
    assert _alone(home, run("a", 3), at_risk=2) == 49_998 - 120_000


# CPU pressure: -20.


def test_pressure_of_the_cpu_costs_20() -> None:
    assert _standing(machine("m", cpu_pressure=True)) == -20_000
    assert _standing(machine("m", 1, cpu_pressure=True)) == -50_000  # and a GPU machine


# Drives: +40 on the machine, else +15 near, +10 with RDMA at both ends.

UP = {"kind": "roce", "rate_gbps": 100}
DOWN = {**UP, "state": "down"}
RACK, FABRIC = {"topology/rack": "r1"}, {"topology/fabric": "f1"}


@pytest.mark.parametrize(
    ("here", "there", "expected"),
    [
        ({}, {}, 0),
        ({"labels": RACK}, {"labels": RACK}, 15_000),
        ({"labels": FABRIC}, {"labels": FABRIC}, 15_000),
        ({"labels": RACK | FABRIC}, {"labels": RACK | FABRIC}, 15_000),
        ({"labels": RACK}, {"labels": {"topology/rack": "r2"}}, 0),
        ({"labels": RACK}, {"labels": {"topology/fabric": "r1"}}, 0),
        ({"rdma": [UP]}, {"rdma": [DOWN, UP]}, 10_000),
        ({"labels": RACK, "rdma": [UP]}, {"labels": RACK, "rdma": [UP]}, 15_000),
        ({"rdma": [UP]}, {"rdma": [DOWN]}, 0),
        ({"rdma": [UP]}, {}, 0),
    ],
)
def test_a_drive_on_another_machine_earns_for_being_near(
    here: Document, there: Document, expected: int
) -> None:
    drives = [{"name": "data", "machine": "n", "sites": ["s"]}]
    home, other = machine("m", network="s", **here), machine("n", network="s", **there)
    assert _standing(home, run("a", drives=["data"]), other, drives=drives) == expected


def test_gpus_of_one_nvlink_domain_are_near() -> None:
    drives = [{"name": "data", "machine": "n", "sites": ["s"]}]
    cards = [card(nvlink_clique="c1")]
    home, other = machine("m", cards, network="s"), machine("n", cards)
    assert _standing(home, run("a", 1, drives=["data"]), other, drives=drives) == 15_000


def test_each_drive_on_the_machine_earns_40_and_nothing_for_being_near() -> None:
    drives = [{"name": "one", "machine": "m"}, {"name": "two", "machine": "m"}]
    home = machine("m", labels=RACK, rdma=[UP])
    assert _standing(home, run("a", drives=["one"]), drives=drives) == 40_000
    assert _standing(home, run("a", drives=["one", "two"]), drives=drives) == 80_000


def test_a_drive_on_no_machine_of_the_fleet_earns_nothing() -> None:
    drives = [{"name": "data"}, {"name": "far", "machine": "gone", "sites": ["s"]}]
    home = machine("m", network="s", labels=RACK, rdma=[UP])
    assert _standing(home, run("a", drives=["data", "far"]), drives=drives) == 0
