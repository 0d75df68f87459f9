from __future__ import annotations

from hypothesis import given

from stowplan.model.snapshot import Snapshot
from stowplan.solver.cells import apart, signatures
from stowplan.solver.choices import Choices
from stowplan.solver.greedy import greedy
from stowplan.solver.layout import Layout
from stowplan.solver.program.linear import ZERO, Sum, total
from stowplan.solver.values import settle, values_of
from tests.build import card, machine, run, snapshot
from tests.solver.cycles import (
    broken_rows,
    cell_of,
    choices_of,
    class_of,
    limits_of,
    over_cells,
    place_of,
    signature_of,
    solved,
)
from tests.strategies import examples, snapshots

RISKY = card(health="at_risk")


def _workers(choices: Choices, run: str, host: str) -> Sum:
    return choices.workers_in(signature_of(choices, run), cell_of(choices, host))


def test_a_signature_is_only_where_a_worker_could_be() -> None:
    machines = [machine("m", 1), machine("n", 2), machine("o", 2, state="down"), machine("p", 4)]
    choices = choices_of(snapshot(machines, [run("a", 2)]))
    cells = choices.cells_for(signature_of(choices, "a"))
    assert [choices.host_of(cell).name for cell in cells] == ["n", "p"]
    assert _workers(choices, "a", "m") == ZERO
    assert choices.signatures_in(cell_of(choices, "o")) == []


def test_a_class_that_does_not_fit_now_has_no_variables() -> None:
    choices = choices_of(snapshot([machine("m", 1)], [run("a", 2), run("b", machines=2)]))
    assert choices.program.upper == []
    assert choices.starts(class_of(choices, "a")) == ZERO


def test_as_many_workers_are_bounded_as_fit_or_are_asked_for() -> None:
    runs = [run(name, 2) for name in "abc"]
    for gpus, most in ((8, 3), (5, 2)):  # 4 would fit on 8, and 3 runs ask
        choices = choices_of(snapshot([machine("m", gpus)], runs))
        assert choices.program.range(_workers(choices, "a", "m")) == (0, most)
    # Over a cell of both, 2 + 1 fit; never together on one, each of two runs has one there.
    choices = over_cells(snapshot([machine("m", 5), machine("n", 3)], runs))
    assert choices.program.range(_workers(choices, "a", "m")) == (0, 3)
    gangs = [run(name, machines=2, cpu_cores=9) for name in "ab"]
    choices = over_cells(snapshot([machine(name) for name in "mno"], gangs))
    assert choices.program.range(_workers(choices, "a", "m")) == (0, 4)  # not 3 x 7


def test_a_signature_with_one_kind_takes_what_its_workers_ask() -> None:
    choices = choices_of(snapshot([machine("m", 4)], [run("a", 2)]))
    each, cell = signature_of(choices, "a"), cell_of(choices, "m")
    [kind] = choices.kinds_for(each, cell)
    assert choices.gpus_of(each, kind) == choices.workers_in(each, cell) * 2
    assert choices.gpus_taken(kind, cell) == choices.gpus_given(each, cell)
    assert choices.at_risk_taken() == ZERO


def test_a_signature_with_two_kinds_chooses_how_many_of_each() -> None:
    choices = choices_of(snapshot([machine("m", [card(), RISKY])], [run("a", 1)]))
    each, cell = signature_of(choices, "a"), cell_of(choices, "m")
    kinds = choices.kinds_for(each, cell)
    (risky,) = (kind for kind in kinds if kind.at_risk)
    assert len({tuple(choices.gpus_of(each, kind).terms) for kind in kinds}) == 2
    assert choices.at_risk_taken() == choices.gpus_taken(risky, cell)
    assert "room" in choices.program.rules


def test_what_workers_take_is_summed_over_signatures() -> None:
    runs = [run("a", cpu_cores=2, memory_bytes=5), run("b", cpu_cores=0.5)]
    choices = choices_of(snapshot([machine("m")], runs))
    cell, a, b = cell_of(choices, "m"), *(_workers(choices, name, "m") for name in "ab")
    assert choices.millicores_taken(cell) == a * 2000 + b * 500
    assert choices.memory_taken(cell) == a * 5
    assert choices.over(cell, lambda each: 1) == a + b


def test_cores_and_memory_that_cannot_run_short_are_not_summed() -> None:
    # Of 64 cores 4 runs ask at most 60, of 100 bytes 4 x 26 = 104.
    runs = [run(f"r{n}", cpu_cores=15, memory_bytes=26) for n in range(4)]
    choices = over_cells(snapshot([machine("m", memory_bytes=100)], runs))
    cell = cell_of(choices, "m")
    assert choices.millicores_taken(cell) == ZERO
    assert choices.memory_taken(cell) == _workers(choices, "r0", "m") * 26


def test_started_workers_and_those_placed_are_told_apart() -> None:
    runs = [run("a", node_selection={"count": 3, "mode": "any"}), run("b", 1)]
    choices = choices_of(snapshot([machine("m", 1), machine("n")], runs))
    each = signature_of(choices, "a")
    placed = total(_workers(choices, "a", host) for host in "mn")
    assert choices.workers_started(each) == choices.starts(class_of(choices, "a")) * 3
    assert choices.workers(each) == placed


def test_each_cohort_of_a_strict_queue_is_found_by_itself() -> None:
    runs = [run("a", 1), run("b", 1)]
    choices = choices_of(snapshot([machine("m", 8)], runs, policy={"queue": "strict"}))
    [each] = choices.classes
    assert [choices.start_of(cohort) for cohort in each.cohorts] == [
        choices.starting(each, 0),
        choices.starting(each, 1),
    ]


# Beside others that stay where they are.


def _beside(s: Snapshot, layout: Layout, *hosts: str, joining: tuple[int, ...] = ()) -> Choices:
    """The choices on some hosts only, all else as in the layout."""
    grid = layout.grid
    cells = apart(grid, [place_of(grid, host) for host in hosts])
    return Choices(grid, limits_of(s, grid), cells, signatures(grid), layout, joining)


def test_what_is_elsewhere_stays_and_counts_in_the_sums() -> None:
    s = snapshot([machine("m", 2), machine("n", 2)], [run(name, 1) for name in "abcd"])
    layout = solved(s).layout
    choices = _beside(s, layout, "m")
    each = signature_of(choices, "a")
    assert choices.starts(class_of(choices, "a")) == Sum({}, 4)
    assert choices.workers(each) == _workers(choices, "a", "m") + 2


def test_classes_that_join_may_start_fewer_but_a_gang_that_is_partly_elsewhere_goes_on() -> None:
    machines = [machine("m", 2), machine("n", 2)]
    gang = run("gang", machines=2, cpu_cores=64)
    s = snapshot(machines, [gang, run("a", 1), run("b", 1)])
    layout = solved(s).layout
    choices = _beside(s, layout, "m", joining=(0, 1))
    ranges = [choices.program.range(choices.starts(class_of(choices, name))) for name in "ab"]
    assert ranges == [(0, 2), (0, 2)]
    assert choices.program.range(choices.starts(class_of(choices, "gang"))) == (1, 1)
    choices = _beside(s, layout, "m", "n", joining=(0, 1))  # where all of the gang is
    assert choices.program.range(choices.starts(class_of(choices, "gang"))) == (0, 1)


@examples(60)
@given(snapshots())
def test_a_layout_s_values_keep_every_row_and_settle_to_the_same_layout(s: Snapshot) -> None:
    choices = choices_of(s)
    layout = greedy(choices, lambda it: False)
    values = values_of(choices, layout)
    assert broken_rows(choices, values) == []
    again = Layout(choices.grid)
    settle(choices, values, again)
    assert again.started == layout.started == choices.started(values)
    assert again.there == layout.there
    assert again.room.tolist() == layout.room.tolist()


@examples(60)
@given(snapshots())
def test_a_layout_s_values_keep_every_row_beside_what_stays_as_it_is(s: Snapshot) -> None:
    layout = greedy(choices_of(s), lambda it: False)
    hosts = [host.name for host in layout.grid.hosts][::2]
    choices = _beside(s, layout, *hosts, joining=tuple(range(len(layout.grid.classes))))
    assert broken_rows(choices, values_of(choices, layout)) == []
