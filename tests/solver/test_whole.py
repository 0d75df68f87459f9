from __future__ import annotations

from hypothesis import given

from stowplan.model.audit import audit, earning
from stowplan.model.audit.plan import Plan
from stowplan.model.decision import Stage
from stowplan.model.snapshot import Snapshot
from stowplan.solver import points
from stowplan.solver.chain import Chain
from stowplan.solver.cycle import solve
from stowplan.solver.handout import at_risk_taken
from stowplan.solver.interrupt import Interrupt
from stowplan.solver.layout import Layout
from stowplan.solver.settings import Settings
from stowplan.solver.values import values_of
from stowplan.solver.whole import Whole
from tests.build import Document, after, card, machine, run, snapshot
from tests.oracle import best
from tests.solver.cycles import broken_rows, choices_of, started_in, that_start, workers_in
from tests.strategies import examples, snapshots

RISKY = card(health="at_risk")


def _solved(s: Snapshot, **settings: float) -> tuple[Layout, dict[str, Stage]]:
    chain = Chain(Settings.model_validate({"gap": 0, **settings}), Interrupt())
    layout = Whole.solved(choices_of(s), chain)
    return layout, {stage.name: stage for stage in chain.stages}


@examples(50)
@given(snapshots(max_machines=4, max_runs=5))
def test_each_stage_is_what_the_layout_comes_to_and_is_proven(s: Snapshot) -> None:
    choices = choices_of(s)
    layout, stages = _solved(s)
    assert broken_rows(choices, values_of(choices, layout)) == []
    assert list(stages) == ["place", "at_risk", "points", "holes", "canonical"]
    assert {stage.status for stage in stages.values()} == {"OPTIMAL"}
    assert stages["place"].objective == stages["place"].bound == sum(layout.weights())
    assert stages["at_risk"].objective == at_risk_taken(layout)
    assert stages["points"].objective == points.earned(layout)
    assert that_start(layout.weights()) == that_start(best(s))


@examples(30)
@given(snapshots())
def test_without_time_the_layout_is_valid_and_what_is_claimed_holds(s: Snapshot) -> None:
    choices = choices_of(s)
    layout, stages = _solved(s, time_limit_s=0)
    assert broken_rows(choices, values_of(choices, layout)) == []
    assert sum(layout.weights()) == stages["place"].objective <= stages["place"].bound
    full, _ = _solved(s)
    assert layout.weights() <= full.weights()


def _starting(s: Snapshot) -> set[str]:
    return {name for name, count in started_in(_solved(s)[0]).items() if count}


def test_among_equals_of_a_tier_those_start_that_leave_most_to_the_tier_below() -> None:
    # a stands first, and a and b weigh the same; only beside b there are cores for c.
    runs = [
        run("a", 2, cpu_cores=8, priority=1),
        run("b", 2, cpu_cores=1, priority=1),
        run("c", 1, cpu_cores=4),
    ]
    assert _starting(snapshot([machine("m", 3, cpu_cores=8)], runs)) == {"b", "c"}


def test_among_equals_those_start_that_take_fewer_gpus_at_risk() -> None:
    # The quota is for one of them: a stands first and could have a GPU at risk only.
    machines = [machine("m", [RISKY]), machine("n", 1)]
    runs: list[Document] = [
        run(name, 1, workspace="v", node_selection={"names": [host]})
        for name, host in (("a", "m"), ("b", "n"))
    ]
    policy = {"workspaces": [{"name": "v", "gpu_quota": 1}]}
    layout, stages = _solved(snapshot(machines, runs, policy=policy))
    assert workers_in(layout) == {"n": {"b": 1}}
    assert stages["at_risk"].objective == 0


def test_the_oldest_of_a_class_start() -> None:
    waited = {"new": 0, "old": 10**6, "older": 2 * 10**6}
    runs = [run(name, 2, submitted_at=after(-seconds)) for name, seconds in waited.items()]
    layout, _ = _solved(snapshot([machine("m", 5)], runs))
    [each] = layout.grid.classes
    assert [sum(layout.started[0][: len(each.cohorts) - 1]), layout.waiting(0)] == [2, 1]


def test_points_move_workers_and_start_nothing_else() -> None:
    # The small machine is packed full by the run of 2 GPUs.
    s = snapshot([machine("large", 8), machine("small", 2)], [run("a", 2)])
    layout, stages = _solved(s)
    assert workers_in(layout) == {"small": {"a": 1}}
    assert stages["points"].objective == 100_000  # all GPUs in use, all cores and memory free


def test_a_stage_that_ends_within_the_gap_tells_what_is_decided_at_last() -> None:
    # Points end at 430,630 of at most 431,020, a gap of 0.09 %; those after it find the rest.
    machines = [machine("a"), machine("b", 1), machine("c", 2), machine("d", 1)]
    runs = [
        run("all-0"),
        run("one", 1, cpu_cores=1),
        run("sweep", 1, array={"size": 3}),
        run("two", cpu_cores=30, machines=2),
    ]
    s = snapshot(machines, runs)
    decision = solve(s)
    assert audit(s, decision) == ()
    told = {stage.name: stage.objective for stage in decision.solver.stages}
    assert told["points"] == earning.points(Plan.of(s, decision))
