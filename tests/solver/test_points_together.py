"""Points of all that is placed together: workers that share a machine, and their sum."""

from __future__ import annotations

from hypothesis import given

from stowplan.model.snapshot import Snapshot
from stowplan.solver import points
from stowplan.solver.decode import decoded
from stowplan.solver.greedy import greedy
from stowplan.solver.values import values_of
from tests.build import card, machine, run, snapshot
from tests.model.audit.standing import stands
from tests.solver.cycles import choices_of, placed, places, solved
from tests.strategies import examples, snapshots


def test_all_rows_add_up() -> None:
    home = machine(
        "m",
        [card(), card(health="at_risk")],
        cpu_cores=4,
        memory_bytes=100,
        reserved_for={"team": "v"},
        cpu_pressure=True,
    )
    asked = run(
        "a",
        2,
        machines=1,
        cpu_cores=1,
        memory_bytes=10,
        node_selection={"match_labels": {"team": "v"}},
        drives=["data"],
    )
    s = snapshot([home], [asked], drives=[{"name": "data", "machine": "m"}])
    # +95 kept, +50 packed, +18.75 cores, +22.5 memory, -60 at risk, -20 pressure, +40 drive
    assert placed(s, "a").scores.points == 146.25


def test_a_run_of_several_workers_earns_their_mean() -> None:
    machines = [
        machine("m", cpu_cores=4, memory_bytes=0),
        machine("n", cpu_cores=2, memory_bytes=0),
    ]
    s = snapshot(machines, [run("a", cpu_cores=1, node_selection={"count": 2})])
    assert placed(s, "a").scores.points == (18.75 + 12.5) / 2


def test_points_choose_between_hosts() -> None:
    # The GPU run is better packed on the small machine, the CPU run better off without GPUs.
    machines = [machine("large", 8), machine("small", 2), machine("none")]
    s = snapshot(machines, [run("gpus", 2), run("cores", cpu_cores=1)])
    assert places(s) == {"gpus": ["small"], "cores": ["none"]}


def test_points_choose_between_groups_that_are_as_tight_and_leave_as_much() -> None:
    # Both racks have four GPUs: r1 two on each machine, r2 all on one, so that one of the workers
    # costs no 30 points there. What can be earned on r1 is no bound for both.
    machines = [
        stands("m0", gpus=0, rack="r2", cpu_cores=16),
        stands("m1", gpus=2, rack="r1", cpu_cores=16),
        stands("m2", gpus=4, rack="r2", cpu_cores=16),
        stands("m3", gpus=2, rack="r1", cpu_cores=16, domain="c"),
        stands("m4", gpus=2, cpu_cores=16),
    ]
    s = snapshot(machines, [run("r0", cpu_cores=1, node_selection={"count": 2})])
    assert sorted(places(s)["r0"]) == ["m0", "m2"]


def test_the_sum_of_all_counts_not_the_best_of_one() -> None:
    # On m, a run earns 25 - 12.5 for its half of the cores; together there, both earn 25 - 25.
    # Apart they earn 12.5 each, though each by itself is as well off on either machine.
    machines = [machine(name, cpu_cores=8, memory_bytes=0) for name in "mn"]
    s = snapshot(machines, [run(name, cpu_cores=4) for name in "ab"])
    assert sorted(host for hosts in places(s).values() for host in hosts) == ["m", "n"]


@examples(80)
@given(snapshots(max_machines=4, max_runs=5))
def test_points_of_hosts_workers_and_the_objective_are_one_sum(snapshot: Snapshot) -> None:
    layout, chain = solved(snapshot)
    plan = decoded(layout)
    of_hosts = sum(points.of_host(host, plan.loads[host.name]) for host in layout.grid.hosts)
    of_workers = sum(
        points.of_worker(start.each.ask, seat.host, plan.loads[seat.host.name], seat.at_risk)
        for start in plan.starts
        for seat in start.seats
    )
    [stage] = [stage for stage in chain.stages if stage.name == "points"]
    assert of_hosts == of_workers == stage.objective == points.earned(layout)
    pairs = zip(layout.grid.classes, layout.started, strict=True)
    assert of_hosts <= points.most(layout.grid, {each.name: sum(runs) for each, runs in pairs})


@examples(60)
@given(snapshots(max_machines=4, max_runs=5))
def test_the_objective_of_a_layout_is_what_it_earns(snapshot: Snapshot) -> None:
    choices = choices_of(snapshot)
    layout = greedy(choices, lambda it: False)
    objective = points.objective(choices)
    assert objective.at(values_of(choices, layout)) == points.earned(layout)
