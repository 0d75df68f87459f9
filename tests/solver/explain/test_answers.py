from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from hypothesis import given

from stowplan.model.snapshot import Snapshot
from stowplan.solver.eligibility import Failing
from stowplan.solver.explain.answers import answers
from tests.build import card, machine, run, snapshot
from tests.solver.cycles import class_of, situation_of, told
from tests.strategies import examples, snapshots

MANY = 10**6


def _said(failing: Sequence[Failing]) -> list[tuple[object, ...]]:
    return [(each.rule.name, *told(each.reason)) for each in failing]


@examples(60)
@given(snapshots())
def test_hosts_alike_say_what_each_of_them_says(snapshot: Snapshot) -> None:
    s = situation_of(snapshot)
    for rooms in (s.rooms_left, s.rooms_at_start, s.rooms_empty):
        for ask in (each.ask for each in s.classes):
            places: list[int] = []
            for answer in answers(rooms, ask, s.listed(ask), MANY):
                assert answer.least is answer.most
                for place in answer.hosts.tolist():
                    host = s.hosts[place]
                    failing = s.eligibility.failing(ask, host, rooms.free[host.name])
                    assert _said(answer.most) == _said(failing)
                    places.append(place)
            assert sorted(places) == sorted(s.listed(ask).tolist())


@examples(60)
@given(snapshots())
def test_in_fewer_groups_hosts_fail_the_same_rules_by_figures_in_between(
    snapshot: Snapshot,
) -> None:
    s = situation_of(snapshot)
    for ask in (each.ask for each in s.classes):
        for answer in answers(s.rooms_left, ask, s.listed(ask), 0):
            for place in answer.hosts.tolist():
                host = s.hosts[place]
                failing = s.eligibility.failing(ask, host, s.room_left(host))
                assert len(failing) == len(answer.least)
                for each, least, most in zip(failing, answer.least, answer.most, strict=True):
                    assert each.rule == least.rule == most.rule
                    assert all(_between(least, each, most))


def _between(least: Failing, each: Failing, most: Failing) -> Iterator[bool]:
    for name, value in each.reason.numbers.items():
        low, high = least.reason.numbers[name], most.reason.numbers[name]
        if isinstance(value, int | float):
            assert isinstance(low, int | float)
            assert isinstance(high, int | float)
            yield low <= value <= high
        else:
            yield low == value == high


def test_hosts_that_lack_different_amounts_are_told_apart_up_to_a_number_of_groups() -> None:
    machines = [
        machine(f"m{number}", cpu_cores=8, used={"cpu_cores": number}) for number in range(1, 6)
    ]
    s = situation_of(snapshot([*machines, machine("n", cpu_cores=4)], [run("a", cpu_cores=8)]))
    ask = class_of(s, "a").ask
    places = s.listed(ask)
    assert [each.hosts.tolist() for each in answers(s.rooms_left, ask, places, 6)] == [
        [0], [1], [2], [3], [4], [5],
    ]  # fmt: skip
    [few, other] = answers(s.rooms_left, ask, places, 5)
    assert (few.hosts.tolist(), other.hosts.tolist()) == ([0, 1, 2, 3, 4], [5])
    [(least, most)] = zip(few.least, few.most, strict=True)
    assert least.reason.message == "needs 8 cores, 3 of 8 free"
    assert most.reason.message == "needs 8 cores, 7 of 8 free"


def test_gpus_of_other_ids_are_alike_unless_a_run_names_them() -> None:
    machines = [machine("m", [card(), card()]), machine("n", [card(), card()])]
    runs = [run("a", 4), run("b", {"ids": ["n/0"]})]
    s = situation_of(snapshot(machines, runs))
    plain, pinned = (class_of(s, name).ask for name in "ab")
    assert [len(each.hosts) for each in answers(s.rooms_empty, plain, s.listed(plain), MANY)] == [2]
    assert [len(each.hosts) for each in answers(s.rooms_empty, pinned, s.listed(pinned), MANY)] == [
        1,
        1,
    ]


def test_no_hosts_are_no_groups() -> None:
    s = situation_of(snapshot([], [run("a", 1)]))
    [each] = s.classes
    assert answers(s.rooms_left, each.ask, np.zeros(0, np.int64), MANY) == []
    assert not s.rooms_left.fits(each.ask)
