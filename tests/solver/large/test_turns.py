"""Turns: each run goes where it fits best when its turn comes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.snapshot import Snapshot
from stowplan.solver.asks import classes_of
from stowplan.solver.cycle import RULES
from stowplan.solver.eligibility import Eligibility
from stowplan.solver.grid import Grid
from stowplan.solver.large.overcells import program_over_cells
from stowplan.solver.large.turns import Built, Turn, Turns
from stowplan.solver.ledger import Ledger
from stowplan.solver.limits import Limits
from stowplan.solver.options import Options
from stowplan.solver.requests import requests_of
from tests.build import Document, machine, run, running, snapshot
from tests.gang_strategies import gang_snapshots
from tests.strategies import examples


def turns_of(s: Snapshot) -> Turns:
    """Return the turns of all that waits."""
    eligibility = Eligibility.of(RULES, s)
    classes = classes_of(requests_of(s, eligibility, "balanced").asked, s)
    options = Options(eligibility)
    wide = Grid(options.of(classes, widest=True), eligibility, eligibility.hosts)
    return Turns(classes, options, program_over_cells(wide, Limits(s, classes, eligibility)))


def racked(name: str, rack: str, gpus: int = 8, **more: Any) -> Document:
    return machine(name, gpus, labels={"topology/rack": rack}, **more)


def filled(s: Snapshot) -> Built:
    """Return what comes of it when all start in line that fit."""
    turns = turns_of(s)
    built = turns.nothing()
    turns.fill(built)
    return built


def hosts_of(built: Built) -> dict[str, set[str]]:
    """Return where runs of several workers are, by their first."""
    names = [host.name for host in built.layout.grid.hosts]
    return {
        berth.turn.each.first: {names[host] for host in berth.hosts.tolist()}
        for berth in built.berths
    }


def _every(turns: Turns) -> dict[tuple[str, int], int]:
    return {turn.key: turn.count for turn in turns.in_line}


def test_a_run_goes_to_the_tightest_group_and_fills_it_best() -> None:
    # Rack a has one machine half in use: two workers of four leave b's whole machines alone.
    machines = [racked("a1", "a"), racked("a2", "a"), racked("b1", "b"), racked("b2", "b")]
    busy = [running("x", ("a1", 4)), running("y", ("a2", 4))]
    found = filled(snapshot(machines, [*busy, run("r", 8, machines=2)]))
    assert hosts_of(found) == {"r": {"a1", "a2"}}
    assert found.standing() == ((8 * 8,), -6, -1, 0)  # a rack: six rungs below one machine


def test_the_fewest_machines_are_taken_in_a_group() -> None:
    machines = [racked(f"m{number}", "a") for number in range(4)]
    [berth] = filled(snapshot(machines, [run("r", 16, topology={})])).berths
    assert (berth.ask.tasks, berth.ask.gpus, berth.steps) == (2, 8, 6)


def test_one_machine_is_tighter_than_any_group() -> None:
    machines = [racked("m", "a"), racked("n", "a")]
    [berth] = filled(snapshot(machines, [run("r", 8, topology={})])).berths
    assert (berth.ask.tasks, berth.group, berth.steps) == (1, None, 0)


def test_who_finds_no_room_is_told_missing() -> None:
    turns = turns_of(snapshot([machine("m", 8)], [run("r", 8), run("s", 8)]))
    built = turns.built(turns.in_line, _every(turns))
    [missing] = built.missing.values()
    assert (missing, sum(map(sum, built.layout.started))) == (1, 1)


def test_a_wanted_shape_is_taken_first() -> None:
    turns = turns_of(snapshot([machine("m", 8), machine("n", 8)], [run("r", 8, topology={})]))
    [turn] = turns.in_line
    halves = next(ask for ask in turn.options if ask.tasks == 2)
    [berth] = turns.built([turn], _every(turns), {turn.key: [halves]}).berths
    assert (berth.ask.tasks, len(berth.hosts)) == (2, 2)


def test_a_spread_run_has_a_worker_in_each_rack() -> None:
    machines = [racked(f"{rack}{number}", rack) for rack in "ab" for number in (1, 2)]
    spread = run("r", 2, machines=2, topology={"spread": "rack"})
    assert {name[0] for name in hosts_of(filled(snapshot(machines, [spread])))["r"]} == {"a", "b"}


@pytest.mark.parametrize(("mode", "machines"), [("any", 1), ("exact", 2)])
def test_workers_share_a_machine_where_they_may(mode: str, machines: int) -> None:
    selection = {"mode": mode, "count": 2} if mode == "any" else {"count": 2}
    s = snapshot([machine("m", 0), machine("n", 0)], [run("r", node_selection=selection)])
    assert len(hosts_of(filled(s))["r"]) == machines


@examples(60)
@given(gang_snapshots(), st.randoms(use_true_random=False))
def test_any_order_keeps_room_and_rules(s: Snapshot, draw: Any) -> None:
    turns = turns_of(s)
    order = list(turns.in_line)
    draw.shuffle(order)
    built = turns.built(order, _every(turns))
    layout = built.layout
    assert (layout.free >= 0).all()
    started: dict[tuple[str, int], int] = {}
    for own, counts in zip(layout.grid.classes, layout.started, strict=True):
        for cohort, count in enumerate(counts):
            started[own.first, cohort] = started.get((own.first, cohort), 0) + count
    for turn in turns.in_line:
        assert started[turn.key] + built.missing.get(turn.key, 0) == turn.count
    for berth in built.berths:
        assert int(berth.workers.sum()) == berth.ask.tasks
        assert berth.group is None or set(berth.hosts.tolist()) <= berth.group.members


@examples(60)
@given(gang_snapshots())
def test_filling_in_line_keeps_the_limits_that_runs_share(s: Snapshot) -> None:
    turns = turns_of(s)
    built = turns.nothing()
    turns.fill(built)
    assert Ledger(turns._choices, built.layout).holds()


def test_what_a_run_lost_is_in_rungs_and_doublings() -> None:
    # Alone it could be on one machine; the run before took half of each.
    machines = [racked("m", "a"), racked("n", "a")]
    busy = [running("x", ("m", 4)), running("y", ("n", 4))]
    turns = turns_of(snapshot(machines, [*busy, run("r", 8, topology={}), run("s", 2)]))
    gang: Turn = next(turn for turn in turns.in_line if turn.each.first == "r")
    [berth] = turns.built([gang], _every(turns)).berths
    assert turns.lost(berth) == 0  # nothing better was open from the start
