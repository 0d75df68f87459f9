from __future__ import annotations

from hypothesis import given

from stowplan.model.snapshot import Snapshot
from stowplan.solver import points
from stowplan.solver.greedy import fill, greedy
from stowplan.solver.handout import at_risk_taken
from stowplan.solver.interrupt import Interrupt
from stowplan.solver.layout import Layout
from stowplan.solver.neighbourhoods import Neighbourhoods
from stowplan.solver.search import Limits
from tests.build import card, machine, run, snapshot
from tests.solver.cycles import broken_rows, choices_of, limits_of, place_of, workers_in
from tests.strategies import examples, snapshots

LIMITS = Limits(deterministic=1, wall_s=60, gap=0, workers=1, seed=1)


def _rooms(s: Snapshot, layout: Layout) -> Neighbourhoods:
    return Neighbourhoods(layout, limits_of(s, layout.grid), LIMITS, Interrupt())


@examples(40)
@given(snapshots())
def test_a_step_keeps_every_row_and_is_as_much_better_as_it_says(s: Snapshot) -> None:
    choices = choices_of(s)
    layout = greedy(choices, lambda it: True)
    rooms, everywhere = _rooms(s, layout), range(len(layout.grid.hosts))
    for hosts in (list(everywhere)[::2], list(everywhere)):
        rooms.start_more(hosts)
        assert broken_rows(choices, choices.values_of(layout)) == []
        started, risk = [list(own) for own in layout.started], at_risk_taken(layout)
        gain = rooms.spare_at_risk(hosts)
        assert at_risk_taken(layout) == risk - gain.amount
        risk, earned = at_risk_taken(layout), points.earned(layout)
        gain = rooms.earn_points(hosts)
        assert points.earned(layout) == earned + gain.amount
        assert at_risk_taken(layout) <= risk
        assert layout.started == started
        assert broken_rows(choices, choices.values_of(layout)) == []


@examples(40)
@given(snapshots())
def test_no_tier_weighs_less_unless_a_higher_one_weighs_more(s: Snapshot) -> None:
    layout = Layout(choices_of(s).grid)
    rooms = _rooms(s, layout)
    for hosts in ([place] for place in range(len(layout.grid.hosts))):
        before = layout.weights()
        rooms.start_more(hosts)
        assert layout.weights() >= before


def test_a_neighbourhood_repacks_what_was_packed_badly() -> None:
    # In line, each on the fullest: 2 + 2 on m and 3 on n; the last 3 fits nowhere. 3 + 2 twice do.
    runs = [run("a", 2), run("b", 2), run("c", 3), run("d", 3)]
    s = snapshot([machine("m", 5), machine("n", 5)], runs)
    choices = choices_of(s)
    layout = Layout(choices.grid)
    fill(choices, layout)
    assert layout.weights() == (8 * 7,)
    gain = _rooms(s, layout).start_more([0, 1])
    assert (gain.amount, layout.weights()) == (8 * 3, (8 * 10,))


def test_a_run_of_a_higher_tier_takes_the_place_of_lower_ones() -> None:
    runs = [run("low", 2), run("high", 1, priority=1, per_gpu={"cpu_cores": 40})]
    s = snapshot([machine("m", 2, cpu_cores=40)], runs)
    choices = choices_of(s)
    layout = Layout(choices.grid)
    low = [each.name for each in layout.grid.classes].index("low")
    layout.set(low, 0, 1)
    layout.start(low, [1])
    _rooms(s, layout).start_more([0])
    assert workers_in(layout) == {"m": {"high": 1}}


def test_hosts_that_are_not_solved_stay_as_they_are() -> None:
    s = snapshot([machine(name, 2) for name in "mno"], [run(f"r{n}", 1) for n in range(6)])
    layout = Layout(choices_of(s).grid)
    layout.set(0, place_of(layout.grid, "m"), 1)
    layout.start(0, [1])
    _rooms(s, layout).start_more([place_of(layout.grid, "n")])
    assert workers_in(layout) == {"m": {"r0": 1}, "n": {"r0": 2}}


def test_workers_move_off_gpus_at_risk_where_their_neighbours_have_room() -> None:
    cards = [card(health="at_risk")]
    s = snapshot([machine("m", cards), machine("n", 1)], [run("a", 1)])
    layout = Layout(choices_of(s).grid)
    layout.set(0, place_of(layout.grid, "m"), 1)
    layout.start(0, [1])
    gain = _rooms(s, layout).spare_at_risk([0, 1])
    assert (gain.amount, workers_in(layout)) == (1, {"n": {"a": 1}})


def test_the_same_seed_finds_the_same_layout() -> None:
    machines = [machine(f"m{index:02}", 4) for index in range(20)]
    runs = [run(f"r{index:02}", 1 + index % 3, cpu_cores=index % 7) for index in range(50)]
    s = snapshot(machines, runs)

    def found() -> dict[str, dict[str, int]]:
        layout = Layout(choices_of(s).grid)
        rooms = _rooms(s, layout)
        for start in range(0, 20, 5):
            rooms.start_more(range(start, start + 5))
        return workers_in(layout)

    assert found() == found()
