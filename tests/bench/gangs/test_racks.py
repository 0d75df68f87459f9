"""What the instance of racks holds, and what the tables say of it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict

import pytest

from tests.bench.gangs import racks
from tests.bench.gangs.instance import IN_A_RACK, gangs
from tests.bench.gangs.measure import LADDER, OURS, Measured, Size, Way, measure
from tests.bench.gangs.runs import is_gang


def test_the_instance_has_ten_thousand_gpus_more_than_half_in_use() -> None:
    snapshot = gangs(1)
    machines = snapshot.fleet.machines
    held = sum(len(w.devices) for run in snapshot.runs if run.placed for w in run.placed.workers)
    assert sum(len(machine.devices) for machine in machines) == 10_000
    assert 5_000 < held < 7_000
    assert {port.kind for machine in machines for port in machine.rdma} == {"infiniband"}
    assert {port.rate_gbps for machine in machines for port in machine.rdma} == {400}
    cliques = Counter(machine.devices[0].nvlink_clique for machine in machines)
    del cliques[None]
    assert sorted(cliques.values()) == [8] * 6
    assert len({machine.labels["topology/rack"] for machine in machines}) == 40


def test_it_has_gangs_of_every_rule() -> None:
    asked = [run for run in gangs(1, singles=10, many=200).runs if run.name.startswith("gang")]
    assert len(asked) == 200
    assert all(is_gang(run) and 16 <= run.gpus.count <= 256 for run in asked)
    assert {run.priority for run in asked} == {0, 1, 2}
    assert {run.topology.keep_within for run in asked} == {None, "fabric", "rack"}
    assert {run.network.interconnect for run in asked} == {"auto", "infiniband"}
    assert {run.gpus.min_per_machine for run in asked} == {None, 8}
    assert any(run.machines for run in asked)
    small = [run for run in asked if run.topology.keep_within == "rack"]
    assert all(run.gpus.count <= IN_A_RACK for run in small)


def test_a_seed_gives_the_same_instance_again_and_another_seed_another() -> None:
    one, again, other = (gangs(seed, machines=20, racks=8, singles=9) for seed in (3, 3, 4))
    assert one == again != other


@pytest.fixture(scope="module")
def measured() -> Measured:
    size = Size(40, 8, 4, 30, 4)
    small = gangs(1, machines=40, racks=8, fabrics=4, singles=30, many=4, sizes={16: 1})
    return measure(small, 1, size, 5)


def test_a_measurement_is_read_as_it_was_written(measured: Measured) -> None:
    assert Measured.read(json.loads(json.dumps(asdict(measured)))) == measured


def test_both_ways_are_measured_and_neither_is_above_the_bound(measured: Measured) -> None:
    assert [way.name for way in measured.ways] == [OURS, LADDER]
    assert 0 <= measured.bound_gap < 0.2
    assert measured.gpus_free > 0
    assert measured.by_gangs == 64


def test_rows_have_every_figure() -> None:
    size = Size()
    ours = Way(OURS, 1.5, (80, 16), 12, {"a": 1, "b": 3, "c": 3}, {"a": 1, "b": 2, "c": 4}, 0.5)
    theirs = Way(LADDER, 0.01, (72, 24), 12, {"b": 4}, {"b": 2})
    each = Measured(7, size, 20, 30, 10, (ours, theirs), (80, 20))
    cells = racks.row(each, ours)
    assert len(cells) == len(racks.COLUMNS)
    assert cells[:5] == ("7", OURS, "10 / 2", "", "4.00%")
    assert cells[-5:] == ("12", "3", "1:1 3:2", "7", "")
    assert racks.both(each) == ("7", "1", "3", "4", "2", "2")
    assert "1.000 (1.000 to 1.000)" in racks.told([each, each])
