from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.snapshot import Snapshot
from stowplan.solver.bound import weight
from stowplan.solver.choices import Choices
from stowplan.solver.large.packing import make_room, packed
from stowplan.solver.layout import Layout
from stowplan.solver.program.linear import Goal, total
from stowplan.solver.program.search import Limits, search
from stowplan.solver.values import values_of
from tests.build import card, machine, run, snapshot
from tests.solver.crowds import crowded
from tests.solver.cycles import (
    broken_rows,
    choices_of,
    class_of,
    grid_of,
    over_cells,
    signature_of,
    started_in,
    workers_in,
)
from tests.strategies import examples, snapshots

QUICK = Limits(deterministic=1, wall_s=60, gap=0.01, workers=1, seed=1)
SHARED = {"quota", "queue", "array_limit"}
"""Rules that hosts know nothing of."""


def _best(choices: Choices) -> list[int]:
    """The values with the most weight, all tiers alike."""
    tiers = {each.ask.priority for each in choices.classes}
    goal = Goal(total(weight(choices, tier) for tier in tiers), maximise=True)
    nothing = [0] * len(choices.program.upper)
    trivial = choices.program.range(goal.terms)[1]
    return search(choices.program, goal, nothing, QUICK, trivial=trivial).values


def _is_within(layout: Layout, choices: Choices, values: list[int]) -> bool:
    """Whether no class starts more than the values say."""
    pairs = zip(layout.started, choices.started(values), strict=True)
    return all(sum(own) <= sum(most) for own, most in pairs)


@examples(60)
@given(st.one_of(snapshots(), crowded(hosts=4)))
def test_what_is_packed_is_valid_and_at_most_what_was_asked_for(s: Snapshot) -> None:
    choices, by_host = over_cells(s), choices_of(s)
    values = _best(choices)
    layout = packed(choices, values)
    # A run that is left out may have stood in line before others; whoever packs looks after that.
    assert set(broken_rows(by_host, values_of(by_host, layout))) <= {"queue"}
    assert _is_within(layout, choices, values)


@examples(100)
@given(st.one_of(snapshots(), crowded(hosts=4)), st.data())
def test_whatever_the_values_hosts_are_never_overdrawn(s: Snapshot, data: st.DataObject) -> None:
    choices, by_host = over_cells(s), choices_of(s)
    ends = zip(choices.program.lower, choices.program.upper, strict=True)
    values = [data.draw(st.integers(low, high)) for low, high in ends]
    layout = packed(choices, values)
    assert set(broken_rows(by_host, values_of(by_host, layout))) <= SHARED
    assert _is_within(layout, choices, values)


# By hand.


def _values(choices: Choices, *runs: tuple[str, int]) -> list[int]:
    """Values over a single cell: so many runs of each class start, all their workers there."""
    [cell] = choices.cells
    values = [0] * len(choices.program.upper)
    for name, count in runs:
        each = class_of(choices, name)
        (start,) = choices.starts(each).terms
        (there,) = choices.workers_in(signature_of(choices, name), cell).terms
        values[start] = count
        values[there] += count * (each.ask.tasks or 0)
    return values


def test_the_largest_go_first_each_to_the_fullest_host() -> None:
    # 4 on m fills it; 4 on n leaves 2 for the other.
    runs = [run("two", 2), run("four", 4), run("next", 4)]
    choices = over_cells(snapshot([machine("m", 4), machine("n", 6)], runs))
    layout = packed(choices, _values(choices, ("two", 1), ("four", 2)))
    assert workers_in(layout) == {"m": {"four": 1}, "n": {"four": 1, "two": 1}}


def test_where_cores_are_short_workers_go_where_most_are_left_for_a_gpu() -> None:
    # On one machine two workers of 40 cores don't fit beside each other.
    runs = [run(name, 1, cpu_cores=cores) for name, cores in (("a", 40), ("b", 40), ("c", 24))]
    choices = over_cells(snapshot([machine("m", 4), machine("n", 4)], runs))
    layout = packed(choices, _values(choices, ("a", 2), ("c", 1)))
    assert started_in(layout) == {"a": 2, "c": 1}


def test_what_hosts_cannot_take_is_left_out() -> None:
    # 3 + 3 + 3 of 10 GPUs, but not on two machines of 5.
    runs = [run(name, 3) for name in "abc"]
    choices = over_cells(snapshot([machine("m", 5), machine("n", 5)], runs))
    assert started_in(packed(choices, _values(choices, ("a", 3)))) == {"a": 2}


def test_a_run_of_several_workers_starts_with_all_of_them_or_not_at_all() -> None:
    gang = run("gang", cpu_cores=40, node_selection={"count": 3, "mode": "any"})
    s = snapshot([machine(name) for name in "mno"], [gang, run("a", cpu_cores=60)])
    choices = over_cells(s)
    layout = packed(choices, _values(choices, ("gang", 1), ("a", 1)))
    # The one worker of 60 cores takes a machine, and two machines are too few for three workers.
    assert started_in(layout) == {"a": 1, "gang": 0}
    assert workers_in(layout).keys() <= {"m", "n", "o"}
    assert sum(sum(there.values()) for there in workers_in(layout).values()) == 1


def test_workers_that_never_share_are_packed_on_different_hosts() -> None:
    gangs = [run(name, cpu_cores=1, machines=2) for name in "ab"]
    choices = over_cells(snapshot([machine(name) for name in "mno"], gangs))
    layout = packed(choices, _values(choices, ("a", 2)))
    assert started_in(layout) == {"a": 2}
    assert max(there["a"] for there in workers_in(layout).values()) <= 2


def test_gpus_at_risk_are_spared_unless_runs_that_need_sound_ones_would_be_left_over() -> None:
    risky = card(health="at_risk")
    machines = [machine("m", [risky, risky, card()]), machine("n", [risky, card(), card(), card()])]
    sound = [run(f"s{n}", {"count": 1, "healthy_only": True}) for n in range(4)]
    s = snapshot(machines, [run("a", 2), *sound])
    choices = over_cells(s)
    # Two sound ones on n for a would leave two for four runs; the two at risk on m do as well.
    layout = packed(choices, _values(choices, ("a", 1), ("s0", 4)))
    assert workers_in(layout) == {"m": {"a": 1, "s0": 1}, "n": {"s0": 3}}
    # Without those runs a takes two of the sound ones.
    layout = packed(choices, _values(choices, ("a", 1)))
    assert workers_in(layout) == {"n": {"a": 1}}


def test_nothing_is_packed_where_nothing_starts() -> None:
    choices = over_cells(snapshot([], [run("a", 1)]))
    assert packed(choices, []).weights() == (0,)


def test_room_is_made_for_a_missing_run_by_moving_another() -> None:
    # `any` is on the only H100, and would do as well on the A100, which `picky` can't use.
    a100 = card(model="NVIDIA A100 80GB")
    s = snapshot(
        [machine("h", 1), machine("o", [a100])],
        [run("any", 1), run("picky", {"count": 1, "models": ["H100"]})],
    )
    grid = grid_of(s)
    layout = Layout(grid)
    at = {each.name: index for index, each in enumerate(grid.classes)}
    layout.set(at["any"], 0, 1)
    layout.start_oldest(at["any"], 1)
    make_room(layout, [[1], [1]])
    assert workers_in(layout) == {"h": {"picky": 1}, "o": {"any": 1}}
    assert layout.started == [[1], [1]]


def test_no_room_is_made_where_nothing_can_leave() -> None:
    s = snapshot([machine("h", 1)], [run("a", 1), run("b", {"count": 1, "models": ["H100"]})])
    layout = Layout(grid_of(s))
    layout.set(0, 0, 1)
    layout.start_oldest(0, 1)
    make_room(layout, [[1], [1]])
    assert layout.started == [[1], [0]]
