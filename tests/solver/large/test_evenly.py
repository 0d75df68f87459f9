from __future__ import annotations

from hypothesis import given

from stowplan.model.snapshot import Snapshot
from stowplan.solver.choices import Choices
from stowplan.solver.greedy import greedy
from stowplan.solver.large.evenly import spread_evenly
from stowplan.solver.values import values_of
from tests.build import Document, machine, run, snapshot
from tests.solver.cycles import cell_of, over_cells, signature_of
from tests.strategies import examples, snapshots


def _spread(choices: Choices, values: list[int]) -> list[int]:
    fixed = choices.fixed(choices.started(values))
    return spread_evenly(choices, values, fixed)


@examples(60)
@given(snapshots())
def test_the_same_runs_start_with_as_many_workers(s: Snapshot) -> None:
    choices = over_cells(s)
    values = values_of(choices, greedy(choices, lambda layout: True))
    spread = _spread(choices, values)
    assert choices.started(spread) == choices.started(values)
    assert min(spread, default=0) >= 0
    assert len(spread) == len(values)
    for each in choices.signatures:
        assert choices.workers(each).at(spread) == choices.workers(each).at(values)


def _in_cells(machines: list[Document], runs: list[Document], at: str, *hosts: str) -> list[int]:
    """How many workers of the runs' one signature are in the cells of these hosts, once spread.

    All start, in the cell of the host `at`.
    """
    choices = over_cells(snapshot(machines, runs))
    each = signature_of(choices, runs[0]["name"])
    values = [0] * len(choices.program.upper)
    for own in each.classes:
        (start,) = choices.starts(own).terms
        values[start] = own.count
    (there,) = choices.workers_in(each, cell_of(choices, at)).terms
    values[there] = len(runs)
    spread = _spread(choices, values)
    return [choices.workers_in(each, cell_of(choices, host)).at(spread) for host in hosts]


def test_a_cell_is_not_filled_while_another_has_room() -> None:
    # 4 cores each, of 16 on m and 40 on n: all on m use the whole of it, all on n 400 of 1000.
    # The mean over both counts too: three on n and one on m would come to 300 and 250.
    machines = [machine("m", 8, cpu_cores=16), machine("n", 12, cpu_cores=40)]
    runs = [run(f"r{number}", 1, cpu_cores=4) for number in range(4)]
    assert _in_cells(machines, runs, "m", "m", "n") == [0, 4]


def test_cells_alike_but_for_their_gpus_bear_alike() -> None:
    # 15 cores of 100 each: the mean is the same, and the worst is least at 450 and 450.
    machines = [machine("m", 8, cpu_cores=100), machine("n", 7, cpu_cores=100)]
    runs = [run(f"r{number}", 1, cpu_cores=15) for number in range(6)]
    assert _in_cells(machines, runs, "m", "m", "n") == [3, 3]


def test_memory_is_spread_as_cores_are() -> None:
    machines = [machine("m", 8, memory_bytes=100), machine("n", 7, memory_bytes=100)]
    runs = [run(f"r{number}", 1, memory_bytes=16) for number in range(4)]
    assert _in_cells(machines, runs, "m", "m", "n") == [2, 2]


def test_where_only_gpus_can_run_short_all_stays_as_it_is() -> None:
    machines = [machine("m", 8), machine("n", 8, labels={"zone": "a"})]
    picky = run("picky", 8, machines=1, node_selection={"match_labels": {"zone": "a"}})
    choices = over_cells(snapshot(machines, [run("a", 1), run("b", 1), picky]))
    assert len(choices.cells) == 2
    values = values_of(choices, greedy(choices, lambda layout: True))
    assert _spread(choices, values) == values


def test_signatures_that_are_only_where_gpus_alone_run_short_keep_their_workers() -> None:
    machines = [
        machine("m", 8, cpu_cores=16, labels={"zone": "a"}),
        machine("n", 8, labels={"zone": "b"}),
    ]
    of_zone = {zone: {"match_labels": {"zone": zone}} for zone in "ab"}
    runs = [run(f"a{n}", 1, cpu_cores=4, node_selection=of_zone["a"]) for n in range(4)]
    runs += [run(f"b{n}", 1, node_selection=of_zone["b"]) for n in range(5)]
    choices = over_cells(snapshot(machines, runs))
    values = values_of(choices, greedy(choices, lambda layout: False))
    spread = _spread(choices, values)
    kept = [choices.workers(each).at(spread) for each in choices.signatures]
    assert sorted(kept) == [4, 5]
