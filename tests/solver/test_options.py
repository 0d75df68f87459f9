from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.snapshot import Snapshot
from stowplan.solver.asks import RunClass, classes_of
from stowplan.solver.options import Options, Way, has_options, rung_of
from tests.build import Document, after, run, running, snapshot
from tests.model.audit.standing import port, stands, two_racks
from tests.solver.cycles import asked_of

type Told = tuple[int | None, int, int, str]
"""Workers, GPUs each, the rung, and the machines; of one machine that it isn't yet chosen: any."""


def _of(s: Snapshot) -> tuple[Options, RunClass]:
    """The options of a fleet, and the class of its only run that waits."""
    eligibility, requests = asked_of(s)
    [each] = classes_of(requests.asked, s)
    return Options(eligibility), each


def _told(options: Options, way: Way) -> Told:
    ask, group = way
    hosts = options.eligibility.hosts
    there = "".join(hosts[place].name for place in group.hosts.tolist()) if group else "any"
    return ask.tasks, ask.gpus, rung_of(group), there


def ways(machines: list[Document], *runs: Document, **more: Any) -> list[Told]:
    """What is open to the only run that waits, the best first."""
    options, each = _of(snapshot(machines, list(runs), **more))
    return [_told(options, way) for way in options.ways(each)]


def wide(gpus: int | Document = 16, **more: Any) -> Document:
    """A run that may be cut in any way."""
    return run("r", gpus, **({"topology": {}} | more))


def test_every_shape_is_open_on_every_group_where_it_fits_the_tightest_rung_first() -> None:
    assert ways(two_racks(), wide()) == [
        (2, 8, 3, "ab"),
        (2, 8, 3, "cd"),
        (2, 8, 4, "abcd"),
        (4, 4, 4, "abcd"),
    ]


def test_a_shape_of_one_worker_is_open_on_any_machine() -> None:
    assert ways([stands("a"), stands("b", gpus=4)], wide(8)) == [(1, 8, 1, "any"), (2, 4, 8, "ab")]


def test_the_least_room_comes_first_on_a_rung() -> None:
    machines = [stands(name, rack="r") for name in "abd"]
    machines += [stands(name, rack="q") for name in "ef"]
    found = ways(machines, wide(16, machines=2))
    assert [there for *_, there in found] == ["ef", "abd", "abdef"]


def test_workers_that_may_share_are_on_one_machine_or_several() -> None:
    asked = wide({"count": 4, "min_per_machine": 2}, node_selection={"mode": "any"})
    assert ways([stands("a", gpus=4), stands("b", gpus=2)], asked) == [
        (1, 4, 1, "any"),
        (2, 2, 1, "a"),
        (2, 2, 8, "ab"),
    ]


def test_what_is_held_now_is_not_open() -> None:
    machines = [stands(name, rack="r") for name in "abd"]
    found = ways(machines, running("x", ("a", 1)), wide(24, machines=3))
    assert found == []
    assert ways(machines, running("x", ("a", 1)), wide(16, machines=2)) == [(2, 8, 7, "abd")]


@pytest.mark.parametrize(
    ("topology", "rungs"),
    [
        ({}, [3, 3, 4, 4]),
        ({"keep_within": "rack"}, [3, 3]),
        ({"keep_within": "fabric"}, [3, 3, 4, 4]),
        ({"keep_within": "node"}, []),
        ({"keep_within": "nvlink_domain"}, []),
        ({"spread": "rack"}, [4]),
        ({"spread": "node"}, [3, 3, 4, 4]),
        ({"spread": "fabric"}, []),
        ({"min_nodes": 3}, [4]),
        ({"max_nodes": 2}, [3, 3, 4]),
    ],
)
def test_rules_of_topology_leave_only_what_they_allow(topology: Document, rungs: list[int]) -> None:
    assert [rung for _, _, rung, _ in ways(two_racks(), wide(topology=topology))] == rungs


IB, ROCE = port(), port("roce")


@pytest.mark.parametrize(
    ("asked", "there"),
    [
        ("auto", ["ab", "abd", "bde", "abdex"]),
        ("rdma", ["ab", "abd", "bde"]),
        ("infiniband", ["ab", "abd"]),
        ("nvlink", ["ab"]),
    ],
)
def test_a_slower_network_than_a_run_accepts_is_not_open(asked: str, there: list[str]) -> None:
    machines = [
        stands("a", IB, domain="c"), stands("b", IB, ROCE, domain="c"), stands("d", IB, ROCE),
        stands("e", ROCE), stands("x"),
    ]  # fmt: skip
    found = ways(machines, wide(16, machines=2, network={"interconnect": asked}))
    assert [hosts for *_, hosts in found] == there


def test_no_option_spans_sites() -> None:
    machines = [stands("a", site="s"), stands("b", site="t"), stands("d", site="t")]
    assert ways(machines, wide(16)) == [(2, 8, 8, "bd")]
    assert ways(machines, wide(24, machines=3)) == []


LATER: Document = {"submitted_at": after(-600)}


@pytest.mark.parametrize(("patience_s", "rungs"), [(601, [3]), (600, [3, 4]), (0, [3, 4])])
def test_a_patient_run_has_only_the_tightest_rung_that_it_could_ever_get(
    patience_s: int, rungs: list[int]
) -> None:
    asked = wide(16, machines=2, topology={"patience_s": patience_s}, **LATER)
    found = ways(two_racks(), running("x", ("a", 1)), asked)
    assert [rung for _, _, rung, _ in found] == rungs


def test_a_patient_run_is_nowhere_while_others_hold_the_tightest_rung() -> None:
    asked = wide(16, machines=2, topology={"patience_s": 601}, **LATER)
    held = [running("x", ("a", 1)), running("y", ("c", 1))]
    assert ways(two_racks(), *held, asked) == []


def test_the_tightest_rung_is_that_of_the_empty_fleet_whatever_is_held() -> None:
    held = [running("x", ("a", 1)), running("y", ("c", 1))]
    options, each = _of(snapshot(two_racks(), [*held, wide(16, machines=2)]))
    assert options.tightest(each) == 3
    options, each = _of(snapshot(two_racks(), [wide(40)]))
    assert options.tightest(each) is None


def test_a_run_of_one_shape_and_one_worker_has_no_options() -> None:
    for asked, has in ((wide(1), False), (wide(8, machines=1), False), (wide(2), True)):
        assert has_options(_of(snapshot([stands("a")], [asked]))[1]) is has


def test_each_option_is_a_class_with_the_runs_of_the_first() -> None:
    options, each = _of(snapshot(two_racks(), [wide()]))
    found = options.of([each])
    assert [own.option for own in found] == [0, 1, 2, 3]
    assert {own.first for own in found} == {each.first}
    assert all(own.cohorts is each.cohorts for own in found)


def test_the_widest_options_are_each_shape_that_fits_on_whole_sites() -> None:
    options, each = _of(snapshot(two_racks(), [wide()]))
    found = options.of([each], widest=True)
    told = [(own.ask.tasks, len(own.group.hosts), own.group.rung) for own in found if own.group]
    assert told == [(2, 4, 8), (4, 4, 8)]


def test_the_extent_is_the_hosts_of_all_options_together() -> None:
    # 2 x 8 and 4 x 4, 8 x 2 and 16 x 1 each on a rack of two, another, and both.
    options, each = _of(snapshot(two_racks(), [wide()]))
    fitting = sum(options.rooms.fits(ask) for ask in each.ways)
    assert options.extent(each) == fitting * (2 + 2 + 4)
    alone = _of(snapshot([stands("a")], [wide(8, machines=1)]))
    assert alone[0].extent(alone[1]) == 0
