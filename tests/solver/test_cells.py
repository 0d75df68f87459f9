from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.snapshot import Snapshot
from stowplan.solver.cells import Cell, Finer, apart, binding, merged, signatures
from stowplan.solver.grid import CORES, MEMORY, Grid
from tests.build import Document, card, machine, run, running, snapshot
from tests.solver.crowds import crowded
from tests.solver.cycles import grid_of
from tests.solver.fills import filled_at_random
from tests.strategies import examples, snapshots

RISKY = card(health="at_risk")
L4 = card(model="NVIDIA L4")
_FINER: tuple[Finer | None, ...] = (None, "at_risk", "all")


def _names(grid: Grid, cells: list[Cell]) -> list[str]:
    """The hosts of each cell, by their names of one letter."""
    return sorted("".join(grid.hosts[place].name for place in cell.hosts) for cell in cells)


def _merged(
    machines: list[Document], runs: list[Document], finer: Finer | None = None
) -> list[str]:
    grid = grid_of(snapshot(machines, runs))
    return _names(grid, merged(grid, binding(grid), finer=finer))


def _kinds(machines: list[Document], *runs: Document) -> list[tuple[int, bool, list[str]]]:
    """The kinds of GPU of the one cell that the hosts make."""
    grid = grid_of(snapshot(machines, runs))
    [cell] = merged(grid, np.zeros((2, len(machines)), np.int64))
    return sorted(
        (kind.free, kind.at_risk, sorted(grid.classes[index].name for index in kind.users))
        for kind in cell.kinds
    )


# Kinds.


def test_gpus_that_the_same_classes_can_use_are_one_kind_over_all_hosts() -> None:
    home, other = machine("m", [card(), L4, card(), L4]), machine("n", [card(memory_mib=80000), L4])
    runs = [run("a", 1), run("b", {"count": 1, "models": ["L4"]})]
    assert _kinds([home, other], *runs) == [(3, False, ["a"]), (3, False, ["a", "b"])]


def test_gpus_at_risk_are_a_kind_of_their_own() -> None:
    cards = [card(), RISKY, card(health="unknown")]
    assert _kinds([machine("m", cards)], run("a", 1)) == [(1, True, ["a"]), (2, False, ["a"])]


def test_gpus_that_nobody_can_use_or_that_are_held_are_no_kind() -> None:
    cards = [card(), card(health="faulted"), L4, RISKY, card()]
    asked = run("a", {"count": 1, "models": ["H100"], "healthy_only": True})
    home = machine("m", cards, constraints={"denied_devices": ["m/0"]})
    assert _kinds([home], asked) == [(1, False, ["a"])]
    assert _kinds([home], running("r", ("m", ["m/4"])), asked, run("b")) == []


# Cells.


def test_hosts_alike_are_one_cell_however_many_gpus_are_free() -> None:
    machines = [machine("m", 8), machine("n", 4), machine("o", 8), machine("p")]
    runs = [run("a", 1), run("b", 2)]
    assert _merged(machines, runs) == ["mno"]
    assert _merged(machines, runs, "all") == ["mo", "n"]
    assert _merged(machines, [*runs, run("c", cpu_cores=1)]) == ["mno", "p"]


def test_where_cores_can_run_short_hosts_of_a_cell_have_as_many_gpus_free() -> None:
    machines = [machine("m", 8), machine("n", 4), machine("o", 8, cpu_cores=60)]
    assert _merged(machines, [run("a", 1, per_gpu={"cpu_cores": 8})]) == ["mo", "n"]
    assert _merged(machines, [run("a", 1, per_gpu={"cpu_cores": 7})]) == ["mno"]


def test_hosts_with_gpus_at_risk_may_be_told_apart_by_what_is_free_there() -> None:
    machines = [
        machine("m", [card(), RISKY]),
        machine("n", [card(), card(), RISKY]),
        machine("o", [card(), RISKY]),
        machine("p", 1),
        machine("q", 3),
    ]
    assert _merged(machines, [run("a", 1)]) == ["mno", "pq"]
    assert _merged(machines, [run("a", 1)], "at_risk") == ["mo", "n", "pq"]
    assert _merged(machines, [run("a", 1)], "all") == ["mo", "n", "p", "q"]


def test_hosts_where_other_classes_may_be_are_apart() -> None:
    machines = [machine("m", 8), machine("n", 8, labels={"zone": "a"}), machine("o", [L4])]
    picky = run("b", 1, node_selection={"match_labels": {"zone": "a"}})
    assert _merged(machines, [run("a", 1)]) == ["mno"]
    assert _merged(machines, [run("a", 1), picky]) == ["mo", "n"]
    assert _merged(machines, [run("a", {"count": 1, "models": ["H100"]}), run("c", 1)]) == [
        "mn",
        "o",
    ]


def test_hosts_where_nobody_may_be_are_in_no_cell() -> None:
    machines = [machine("m", 8), machine("n", 8, state="down")]
    assert _merged(machines, [run("a", 1)]) == ["m"]


def test_apart_each_host_is_a_cell_and_only_those_that_are_asked_for() -> None:
    grid = grid_of(snapshot([machine(name, 2) for name in "mno"], [run("a", 1)]))
    assert _names(grid, apart(grid)) == ["m", "n", "o"]
    assert _names(grid, apart(grid, [2, 0])) == ["m", "o"]


def test_a_cell_has_what_is_free_on_all_its_hosts_and_an_overdrawn_one_has_none() -> None:
    machines = [
        machine("m", 2, cpu_cores=8, memory_bytes=100),
        machine("n", 2, cpu_cores=4, memory_bytes=10, used={"cpu_cores": 9, "memory_bytes": 1}),
    ]
    grid = grid_of(snapshot(machines, [run("a", 1)]))
    [cell] = merged(grid, binding(grid))
    assert (cell.millicores, cell.memory_bytes) == (8000, 109)
    assert not cell.cores_bind


@examples(80)
@given(snapshots())
def test_every_host_that_could_be_of_use_is_in_one_cell(s: Snapshot) -> None:
    grid = grid_of(s)
    for finer in _FINER:
        cells = merged(grid, binding(grid), finer=finer)
        places = [place for cell in cells for place in cell.hosts.tolist()]
        assert len(set(places)) == len(places)
        assert {place for there in grid.where for place in there.tolist()} <= set(places)
        for cell in cells:
            assert sum(kind.free for kind in cell.kinds) == grid.usable_gpus[cell.hosts].sum()


# Signatures.


def _signatures(machines: list[Document], runs: list[Document]) -> list[list[str]]:
    grid = grid_of(snapshot(machines, runs))
    found = signatures(grid, binding(grid))
    return sorted(sorted(each.first for each in own.classes) for own in found)


def test_classes_that_ask_the_same_of_the_same_hosts_share_a_signature() -> None:
    runs = [run("a", 1), run("b", 1, priority=1), run("c", 1, workspace="v"), run("d", 2)]
    assert _signatures([machine("m", 8)], runs) == [["a", "b", "c"], ["d"]]
    policy = [*runs, run("e", {"count": 1, "healthy_only": True})]
    assert _signatures([machine("m", 8)], policy) == [["a", "b", "c", "e"], ["d"]]
    assert _signatures([machine("m", [card(), RISKY])], policy[:3:2] + policy[4:]) == [
        ["a", "c"],
        ["e"],
    ]


def test_cores_tell_signatures_apart_only_where_they_can_run_short() -> None:
    runs = [run("a", 1, cpu_cores=8), run("b", 1, cpu_cores=4), run("c", 1, memory_bytes=9)]
    assert _signatures([machine("m", 8)], runs) == [["a", "b", "c"]]
    assert _signatures([machine("m", 9)], runs) == [["a"], ["b"], ["c"]]


def test_a_class_has_its_own_for_each_group_of_machines_that_its_workers_may_be_on() -> None:
    gangs = [run(name, machines=2, workspace=name) for name in "ab"]
    loose = [run(name, node_selection={"count": 2, "mode": "any"}, workspace=name) for name in "cd"]
    machines = [machine("m"), machine("n")]
    # Workers of c and d may share: they are on m, on n, or on both.
    assert _signatures(machines, gangs) == [["a"], ["b"]]
    assert _signatures(machines, loose) == [["c"]] * 3 + [["d"]] * 3


def test_a_class_that_could_be_nowhere_has_none() -> None:
    assert _signatures([machine("m", 1)], [run("a", 1), run("b", 2)]) == [["a"]]


# What binds.


@pytest.mark.parametrize(
    ("asked", "binds"),
    [
        ([run("a", 1, cpu_cores=8)], 0),  # 8 GPUs at 8 cores: all of the 64
        ([run("a", 1, cpu_cores=8.001)], 1),
        ([run("a", 8, cpu_cores=64), run("b", 2, cpu_cores=1)], 0),
        ([run("a", 3, cpu_cores=25)], 1),  # 8 1/3 for a GPU, though no two fit a machine beside
        ([run("a", 1, cpu_cores=7), run("b", cpu_cores=8)], 0),  # 56 + 8
        ([run("a", 1, cpu_cores=7), run("b", cpu_cores=8), run("c", cpu_cores=8)], 1),
        ([run("b", cpu_cores=64)], 0),
        ([run("b", cpu_cores=21, node_selection={"count": 3, "mode": "any"})], 0),  # 63
        (
            [
                run("b", cpu_cores=21, node_selection={"count": 3, "mode": "any"}),
                run("c", cpu_cores=2),
            ],
            1,
        ),
    ],
)
def test_cores_bind_where_more_could_be_asked_for_than_are_free(
    asked: list[Document], binds: int
) -> None:
    grid = grid_of(snapshot([machine("m", 8)], asked))
    assert binding(grid)[:, 0].tolist() == [binds, 0]


@examples(150)
@given(st.data())
def test_what_does_not_bind_is_enough_for_the_most_that_could_be_there(data: st.DataObject) -> None:
    gpus, cores = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 30))
    asks = data.draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=4))
    runs = [run(f"r{n}", some, cpu_cores=each) for n, (some, each) in enumerate(asks)]
    grid = grid_of(snapshot([machine("m", gpus, cpu_cores=cores)], runs))
    most = max(
        sum(each for _, each in some)
        for size in range(len(asks) + 1)
        for some in itertools.combinations(asks, size)
        if sum(own for own, _ in some) <= gpus
    )
    assert binding(grid)[CORES, 0] or most <= cores


@examples(80)
@given(st.one_of(snapshots(), crowded(hosts=2)), st.randoms(use_true_random=False))
def test_what_does_not_bind_is_never_overdrawn_by_what_gpus_allow(
    s: Snapshot, draw: random.Random
) -> None:
    # Filled as if there were cores and memory without end.
    grid = grid_of(s)
    binds, given = binding(grid), grid.room[:2].copy()
    grid.room[CORES] = grid.room[MEMORY] = 2**60
    layout = filled_at_random(grid, draw)
    left = given - (2**60 - layout.room[:2])
    used = left < given
    assert not (used & (left < 0) & (binds == 0)).any()
