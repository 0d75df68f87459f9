from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.snapshot import Snapshot
from stowplan.solver.bound import weight
from stowplan.solver.cells import Finer
from stowplan.solver.choices import Choices
from stowplan.solver.large.packing import packed
from stowplan.solver.program.linear import Goal, Row
from stowplan.solver.program.search import Limits, search
from stowplan.solver.values import values_of
from tests.build import Document, after, card, machine, run, running, snapshot
from tests.oracle import best
from tests.solver.crowds import crowded
from tests.solver.cycles import broken_rows, over_cells, signature_of
from tests.solver.fills import filled_at_random
from tests.strategies import examples, snapshots

PROVE = Limits(deterministic=10, wall_s=60, gap=0, workers=1, seed=1)
SHARED = {"quota", "queue", "array_limit"}
"""Rules that hosts know nothing of."""
FINER: tuple[Finer | None, ...] = (None, "at_risk", "all")


@examples(120)
@given(
    st.one_of(snapshots(max_runs=9), crowded(hosts=4)),
    st.sampled_from(FINER),
    st.randoms(use_true_random=False),
)
def test_no_row_cuts_off_what_hosts_can_hold(
    s: Snapshot, finer: Finer | None, draw: random.Random
) -> None:
    choices = over_cells(s, finer)
    for _ in range(3):
        values = values_of(choices, filled_at_random(choices.grid, draw))
        assert set(broken_rows(choices, values)) <= SHARED


@st.composite
def of_sizes(draw: st.DrawFn) -> Snapshot:
    """Hosts of GPUs, and runs of 1, 2, 4 or 8 of them that have waited longer or shorter."""
    machines: list[Document] = []
    held: list[Document] = []
    for number in range(draw(st.integers(1, 4))):
        machines.append(machine(f"m{number}", draw(st.sampled_from((8, 8, 4, 7, 3, 6)))))
        if taken := draw(st.integers(0, 3)):
            held.append(running(f"held{number}", (f"m{number}", taken)))
    sizes = draw(st.lists(st.sampled_from((1, 2, 2, 4, 4, 8)), max_size=9))
    runs = [
        run(f"r{number}", size, submitted_at=after(-3000 * draw(st.integers(0, 2))))
        for number, size in enumerate(sizes)
    ]
    return snapshot(machines, held + runs)


@examples(80)
@given(of_sizes())
def test_where_sizes_divide_each_other_the_program_over_cells_is_exact(s: Snapshot) -> None:
    choices = over_cells(s)
    goal = Goal(weight(choices, 0), maximise=True)
    nothing = [0] * len(choices.program.upper)
    trivial = choices.program.range(goal.terms)[1]
    found = search(choices.program, goal, nothing, PROVE, trivial=trivial)
    assert (found.objective,) == (best(s) or (0,))
    layout = packed(choices, found.values)
    assert layout.weights() in ((), (found.objective,))
    assert list(map(sum, layout.started)) == list(map(sum, choices.started(found.values)))


# By hand.


def _levels(choices: Choices, **signatures: str) -> list[tuple[dict[str, int], int]]:
    """The rows of levels: what counts how often, under the names given, and how much there is."""
    [cell] = choices.cells
    names = {
        next(iter(choices.workers_in(signature_of(choices, own), cell).terms)): name
        for name, own in signatures.items()
    }
    rows: list[Row] = [
        row
        for rule, row in zip(choices.program.rules, choices.program.rows, strict=True)
        if rule == "levels"
    ]
    return [({names[c]: value for c, value in row.terms.items()}, row.high) for row in rows]


def _many(name: str, size: int | Document, **more: object) -> list[Document]:
    return [run(f"{name}{number}", size, **more) for number in range(9)]


def test_a_host_bears_no_more_workers_of_a_size_than_fit_it_whole() -> None:
    # 6 and 7 free: of those of 2 three on each, and one of 4 is two. One of 4 on each: no row
    # says so, but the bound of what there could be.
    runs = [*_many("four", 4), *_many("two", 2), *_many("one", 1)]
    choices = over_cells(snapshot([machine("m", 6), machine("n", 7)], runs))
    [cell] = choices.cells
    four = choices.workers_in(signature_of(choices, "four0"), cell)
    assert _levels(choices, a="four0", b="two0", c="one0") == [({"a": 2, "b": 1}, 6)]
    assert choices.program.range(four) == (0, 2)


def test_the_largest_size_has_a_row_where_several_signatures_ask_it() -> None:
    runs = [*_many("a", 4, cpu_cores=48), *_many("b", 4), *_many("c", 2)]
    choices = over_cells(snapshot([machine(name, 6) for name in "mn"], runs))
    assert [row for row in _levels(choices, a="a0", b="b0", c="c0") if row[1] == 2] == [
        ({"a": 1, "b": 1}, 2)
    ]


def test_sizes_that_do_not_divide_each_other_count_whole_times_too() -> None:
    # 5, 5 and 5 free: of those of 2, two on each, of which one of 3 takes one.
    runs = [*_many("three", 3), *_many("two", 2)]
    choices = over_cells(snapshot([machine(name, 5) for name in "mno"], runs))
    assert _levels(choices, a="three0", b="two0") == [({"a": 1, "b": 1}, 6)]


def test_cores_have_levels_where_they_bind() -> None:
    # 10 and 10 cores: of those of 4 two on each, of which one of 6 takes one.
    runs = [*_many("six", 0, cpu_cores=6), *_many("four", 0, cpu_cores=4)]
    machines = [machine("m", cpu_cores=10), machine("n", cpu_cores=10)]
    choices = over_cells(snapshot(machines, runs))
    assert _levels(choices, a="six0", b="four0") == [({"a": 1, "b": 1}, 4)]


def test_what_can_use_other_gpus_too_counts_only_where_all_of_those_do() -> None:
    # H100s: 3 on each; any card: 5. Those that may go elsewhere don't count among the H100s.
    cards = [card(model="NVIDIA H100")] * 3 + [card(model="NVIDIA L4")] * 2
    runs = [*_many("any", 2), *_many("h", {"count": 2, "models": ["H100"]})]
    choices = over_cells(snapshot([machine("m", cards), machine("n", cards)], runs))
    [cell] = choices.cells
    assert _levels(choices, a="any0", b="h0") == [({"a": 1, "b": 1}, 4)]
    assert choices.program.range(choices.workers_in(signature_of(choices, "h0"), cell)) == (0, 2)


@pytest.mark.parametrize("gpus", [4, 8])
def test_what_the_room_says_already_is_not_said_again(gpus: int) -> None:
    runs = [*_many("four", 4), *_many("two", 2), *_many("one", 1)]
    choices = over_cells(snapshot([machine(name, gpus) for name in "mno"], runs))
    assert "levels" not in choices.program.rules
