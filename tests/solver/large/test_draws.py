from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
import pytest

from stowplan.solver.large.draws import TOGETHER, WANTED, idle, in_turn, spare, wanted
from stowplan.solver.layout import Layout
from tests.build import Document, card, machine, run, snapshot
from tests.solver.cycles import grid_of, place_of


def _layout(machines: list[Document]) -> Layout:
    return Layout(grid_of(snapshot(machines, [run("a", 1, cpu_cores=2), run("b", cpu_cores=1)])))


def _many(count: int) -> Layout:
    """Two families: machines that keep each other's company when like goes beside like."""
    kinds: tuple[Document, ...] = ({}, {"capabilities": ["net"]})
    return _layout([machine(f"m{n:02}", 1, **kinds[n % 2]) for n in range(count)])


def test_only_hosts_where_some_class_could_be_are_drawn() -> None:
    layout = _layout([machine("m", 2), machine("n", 2, state="down"), machine("o", cpu_cores=0.5)])
    assert layout.grid.used == [place_of(layout.grid, "m")]


@pytest.mark.parametrize("count", [1, TOGETHER, 3 * TOGETHER + 1])
def test_each_host_has_its_turn_once_a_round(count: int) -> None:
    grid = _many(count).grid
    turns = in_turn(grid.used, grid, random.Random(1))
    groups = -(-count // TOGETHER)
    for _ in range(4):
        round_ = list(itertools.islice(turns, groups))
        assert all(0 < len(group) <= TOGETHER for group in round_)
        assert sorted(itertools.chain(*round_)) == list(range(count))


def test_there_are_no_turns_without_hosts() -> None:
    grid = _layout([]).grid
    assert list(in_turn([], grid, random.Random(1))) == []


def test_in_some_rounds_hosts_stand_beside_their_like() -> None:
    grid = _many(2 * TOGETHER).grid
    turns = in_turn(grid.used, grid, random.Random(1))
    mixed = [
        len({int(grid.family_of[host]) for host in group}) > 1
        for group in itertools.islice(turns, 40)
    ]
    assert set(mixed) == {False, True}


def test_few_hosts_are_all_wanted() -> None:
    hosts = list(range(WANTED))
    assert wanted(hosts, np.zeros(WANTED), hosts, np.zeros(WANTED), random.Random(1)) == hosts


def test_hosts_with_more_to_spare_are_drawn_more_often_and_no_host_never() -> None:
    hosts, draw = list(range(100)), random.Random(1)
    amounts = np.array([4.0 if host < 10 else 0.0 for host in hosts])
    drawn: Counter[int] = Counter()
    for _ in range(200):
        group = wanted(hosts, amounts, hosts, np.ones(100), draw)
        assert len(group) <= WANTED
        assert list(group) == sorted(set(group))
        drawn.update(group)
    assert drawn.keys() == set(hosts)
    assert min(drawn[host] for host in range(10)) > max(drawn[host] for host in range(10, 100))


def test_some_are_drawn_from_those_that_are_named_beside() -> None:
    hosts = list(range(100))
    group = wanted(hosts, np.zeros(100), [7, 8], np.array([9.0, 9.0]), random.Random(1))
    assert {7, 8} <= set(group)
    assert len(set(group) - {7, 8}) > 1


def test_gpus_wait_to_be_used_and_where_there_are_none_cores() -> None:
    cards = [card(), card(health="faulted"), card()]
    used_up = {"cpu_cores": 9}
    machines = [machine("m", cards), machine("n"), machine("o", cpu_cores=8, used=used_up)]
    layout = _layout(machines)
    m, n, o = idle(layout, [0, 1, 2]).tolist()
    assert o == 0 < n < 1 < 2 <= m < 3
    layout.set(0, 0, 1)
    assert 1 <= idle(layout, [0])[0] < 2


def test_what_is_spare_is_for_so_many_gpus_as_cores_and_memory_would_do() -> None:
    # 3 GPUs share 24 cores and 60 bytes: 8 and 20 for each. m has 12 and 50, n 12 and 10.
    machines = [
        machine("m", 1, cpu_cores=12, memory_bytes=50),
        machine("n", 2, cpu_cores=12, memory_bytes=10),
    ]
    layout = _layout(machines)
    assert spare(layout, [0, 1]).tolist() == [1.5, 0.5]
    layout.set(0, 0, 1)
    assert spare(layout, [0]).tolist() == [1.25]
