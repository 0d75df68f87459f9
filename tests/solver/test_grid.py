from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.snapshot import Snapshot
from stowplan.solver.eligibility import PLENTY
from stowplan.solver.grid import CORES, MEMORY, POOLS, UNUSABLE, Grid
from stowplan.solver.layout import Layout
from tests.build import card, machine, run, running, snapshot
from tests.solver.crowds import crowded, fit_together
from tests.solver.cycles import class_of, grid_of, place_of
from tests.strategies import examples, snapshots
from tests.witness.asked import gpus_each, run_named
from tests.witness.machines import machine_named, rooms, usable


@examples(250)
@given(crowded(), st.data())
def test_a_worker_fits_beside_others_exactly_if_each_gets_gpus_of_its_own(
    s: Snapshot, data: st.DataObject
) -> None:
    grid = grid_of(s)
    layout, there = Layout(grid), list[str]()
    drawn = data.draw(st.lists(st.integers(0, len(grid.classes) - 1), max_size=7))
    for index in drawn:
        name = grid.classes[index].name
        at = grid.positions(index, np.array([0]))
        slots = int(layout.slots(index, at).sum())
        assert (slots > 0) == fit_together(s, "m0", [*there, name])
        if slots:
            assert fit_together(s, "m0", [*there, *[name] * slots])
            layout.put(index, at, np.array([1]))
            there.append(name)
    assert int(layout.room.min()) >= 0


@examples(150)
@given(snapshots())
def test_slots_at_the_start_are_those_of_the_rules(s: Snapshot) -> None:
    grid = grid_of(s)
    for index, each in enumerate(grid.classes):
        slots = dict(zip(grid.where[index].tolist(), grid.slots(index, grid.room), strict=True))
        for place, host in enumerate(grid.hosts):
            asked = grid.eligibility.slots(each.ask, host, host.start) if each.ask.tasks else 0
            assert slots.get(place, 0) == asked
        assert grid.fits[index] == grid.eligibility.fits(each.ask, lambda host: host.start)


@examples(100)
@given(crowded(hosts=3))
def test_hosts_of_a_family_share_pools_though_each_has_its_own_room(s: Snapshot) -> None:
    grid = grid_of(s)
    for index, each in enumerate(grid.classes):
        slots = dict(zip(grid.where[index].tolist(), grid.slots(index, grid.room), strict=True))
        for place, host in enumerate(grid.hosts):
            there, room = machine_named(s, host.name), rooms(s)[host.name]
            own = run_named(s, each.name)
            gpus, cores = len(usable(there, own, room)) // gpus_each(own), each.ask.millicores
            assert slots.get(place, 0) == min(gpus, room.cores // cores if cores else gpus)


# By hand.


def _free(grid: Grid, run: str, host: str) -> int:
    place = place_of(grid, host)
    index = grid.classes.index(class_of(grid, run))
    return int(grid.free_for(index, np.array([place]))[0])


def test_a_union_of_pools_that_overlap_is_a_pool_too() -> None:
    # h can use 1 H100 and the H200, l the H200 and the L4: each pool has 2, both together 3.
    cards = [card(model=f"NVIDIA {model}") for model in ("H100", "H200", "L4")]
    runs = [
        run("h", {"count": 2, "models": ["H100", "H200"]}),
        run("l", {"count": 2, "models": ["H200", "L4"]}),
    ]
    grid = grid_of(snapshot([machine("m", cards)], runs))
    assert sorted(grid.room[POOLS:, 0].tolist()) == [2, 2, 3]
    layout = Layout(grid)
    assert [int(layout.slots(index)[0]) for index in (0, 1)] == [1, 1]
    layout.put(0, np.array([0]), np.array([1]))
    assert [int(layout.slots(index)[0]) for index in (0, 1)] == [0, 0]


def test_pools_that_do_not_overlap_have_no_union() -> None:
    cards = [card(model="NVIDIA H100"), card(model="NVIDIA L4")]
    runs = [
        run(name, {"count": 1, "models": [model]}) for name, model in (("h", "H100"), ("l", "L4"))
    ]
    grid = grid_of(snapshot([machine("m", cards)], runs))
    assert grid.room[POOLS:, 0].tolist() == [1, 1]


def test_only_gpus_that_are_free_and_of_use_to_some_class_count() -> None:
    cards = [card(), card(), card(health="at_risk"), card(health="faulted"), card(model="L4")]
    runs = [running("r", ("m", 1)), run("a", {"count": 1, "models": ["H100"]})]
    grid = grid_of(snapshot([machine("m", cards)], runs))
    assert (grid.usable_gpus.tolist(), grid.sound_gpus.tolist()) == ([2], [1])
    assert grid.devices.tolist() == [5]
    assert _free(grid, "a", "m") == 2


def test_a_class_is_where_a_worker_of_it_could_be() -> None:
    machines = [machine("m", 1), machine("n", 2), machine("o", 2, state="down"), machine("p", 5)]
    grid = grid_of(snapshot(machines, [run("a", 2), run("b", cpu_cores=65)]))
    assert [grid.hosts[place].name for place in grid.where[0]] == ["n", "p"]
    assert grid.slots(0, grid.room).tolist() == [1, 2]
    assert [len(grid.where[1]), grid.fits[0], grid.fits[1]] == [0, True, False]
    assert {grid.usable[1][family] for family in grid.family_of.tolist()} <= {0, UNUSABLE}


def test_positions_are_those_of_hosts_where_the_class_could_be() -> None:
    machines = [machine("m", 1), machine("n", 2), machine("o"), machine("p", 5)]
    grid = grid_of(snapshot(machines, [run("a", 2)]))
    assert grid.where[0].tolist() == [1, 3]
    assert grid.positions(0, np.array([0, 1, 2, 3])).tolist() == [0, 1]
    assert grid.positions(0, np.array([3])).tolist() == [1]
    assert grid.positions(0, np.array([0, 2])).tolist() == []


def test_a_worker_takes_its_cores_memory_and_gpus() -> None:
    home = machine("m", 8, cpu_cores=10, memory_bytes=100)
    grid = grid_of(snapshot([home], [run("a", 2, cpu_cores=3, memory_bytes=20), run("b", 1)]))
    room = grid.room.copy()
    grid.take(0, np.array([0]), np.array([2]), room)
    assert room[:, 0].tolist() == [4000, 60, 0, 4]
    assert (grid.slots(0, room).tolist(), grid.slots(1, room).tolist()) == ([1], [4])


def test_a_run_that_asks_for_nothing_has_plenty_of_slots() -> None:
    grid = grid_of(snapshot([machine("m")], [run("a")]))
    assert grid.slots(0, grid.room).tolist() == [PLENTY]


def test_what_is_free_for_a_gpu_is_a_mean_over_all_hosts() -> None:
    machines = [machine("m", 3, cpu_cores=8, memory_bytes=10), machine("n", 1, cpu_cores=4)]
    machines[1]["memory_bytes"] = 30
    grid = grid_of(snapshot(machines, [run("a", 1)]))
    assert grid.mean_per_gpu[[CORES, MEMORY]].tolist() == [3000, 10]


def test_a_grid_without_hosts_or_classes_is_empty() -> None:
    assert grid_of(snapshot([], [run("a", 1)])).where[0].tolist() == []
    assert grid_of(snapshot([machine("m", 1)], [])).usable_gpus.tolist() == [0]
