from __future__ import annotations

import itertools

from hypothesis import given

from stowplan.model.snapshot import Snapshot
from stowplan.solver import points
from stowplan.solver.choices import Choices
from stowplan.solver.greedy import first_fit, greedy
from stowplan.solver.linear import total
from stowplan.solver.neighbourhoods import improved
from stowplan.solver.search import Goal, Limits
from tests.build import machine, run, snapshot
from tests.solver.cycles import choices_of, keeps_every_row
from tests.strategies import examples, snapshots

LIMITS = Limits(deterministic=1, wall_s=60, gap=0, workers=1, seed=1)


def _weight(choices: Choices) -> Goal:
    weights = [
        choices.starting(each, index) * cohort.weight
        for each in choices.classes
        for index, cohort in enumerate(each.cohorts)
    ]
    return Goal(total(weights), maximise=True)


@examples(40)
@given(snapshots())
def test_a_step_keeps_every_row_and_what_starts_and_earns_no_less(snapshot: Snapshot) -> None:
    choices = choices_of(snapshot)
    goal = Goal(points.objective(choices), maximise=True)
    values = choices.program.completed(greedy(choices))
    fixed = {
        column: values[column] for each in choices.classes for column in choices.starts(each).terms
    }
    if not any(choices.classes_on(host) for host in choices.hosts):
        return
    earned = goal.terms.at(values)
    for step in itertools.islice(improved(choices, goal, values, LIMITS, fixed), 3):
        assert keeps_every_row(choices, step.values)
        assert choices.program.completed(step.values) == step.values
        assert all(step.values[column] == value for column, value in fixed.items())
        assert goal.terms.at(step.values) >= earned
        earned = goal.terms.at(step.values)


@examples(40)
@given(snapshots())
def test_classes_that_join_may_start_more_and_the_weight_never_falls(snapshot: Snapshot) -> None:
    choices = choices_of(snapshot)
    goal = _weight(choices)
    values = [0] * len(choices.program.upper)
    if not any(choices.classes_on(host) for host in choices.hosts):
        return
    placed = 0
    steps = improved(choices, goal, values, LIMITS, {}, choices.classes)
    for step in itertools.islice(steps, 2):
        assert keeps_every_row(choices, step.values)
        assert goal.terms.at(step.values) >= placed
        placed = goal.terms.at(step.values)
    assert placed > 0


def test_a_neighbourhood_repacks_what_was_packed_badly() -> None:
    # First-fit puts 2 + 2 on m and 3 on n: the last 3 fits nowhere. 3 + 2 and 3 + 2 fit.
    runs = [run("a", 2), run("b", 2), run("c", 3), run("d", 3)]
    choices = choices_of(snapshot([machine("m", 5), machine("n", 5)], runs))
    goal = _weight(choices)
    values = first_fit(choices, [0] * len(choices.program.upper))
    assert goal.terms.at(values) == 8 * 7
    step = next(improved(choices, goal, values, LIMITS, {}, choices.classes))
    assert goal.terms.at(step.values) == 8 * 10


def test_hosts_that_nothing_could_go_to_are_left_out() -> None:
    machines = [machine("m", 1), machine("n", state="down")]
    choices = choices_of(snapshot(machines, [run("a", 1)]))
    goal = _weight(choices)
    nothing = [0] * len(choices.program.upper)
    step = next(improved(choices, goal, nothing, LIMITS, {}, choices.classes))
    assert goal.terms.at(step.values) == 8


def test_the_same_seed_draws_the_same_neighbourhoods() -> None:
    machines = [machine(f"m{index:02}", 4) for index in range(20)]
    runs = [run(f"r{index:02}", 1 + index % 3, cpu_cores=index % 7) for index in range(20)]
    choices = choices_of(snapshot(machines, runs))
    goal = Goal(points.objective(choices), maximise=True)
    values = choices.program.completed(greedy(choices))
    fixed = {
        column: values[column] for each in choices.classes for column in choices.starts(each).terms
    }

    def steps() -> list[list[int]]:
        found = improved(choices, goal, values, LIMITS, fixed)
        return [step.values for step in itertools.islice(found, 4)]

    assert steps() == steps()
