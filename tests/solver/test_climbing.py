from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.decision import Decision
from stowplan.model.snapshot import Snapshot
from stowplan.solver import climbing
from stowplan.solver.cycle import solve
from tests.build import Document, machine, run, running, snapshot
from tests.model.audit.standing import port, stands
from tests.solver.cycles import choices_of, placed, places, solved

STAGES = ("rung", "machines", "room")


def told(decision: Decision) -> dict[str, float]:
    """The rungs, machines and room left, as the stages tell them; 0 where none is needed."""
    stages = {stage.name: stage for stage in decision.solver.stages}
    found = {name: stages[name] for name in STAGES if name in stages}
    assert all(stage.objective == stage.bound for stage in found.values())
    return dict.fromkeys(STAGES, 0.0) | {name: each.objective for name, each in found.items()}


def wide(name: str, gpus: int, **more: Any) -> Document:
    """A run that may be cut in any way."""
    return run(name, gpus, **({"topology": {}} | more))


def pair(letters: str, *ports: Document, **where: Any) -> list[Document]:
    return [stands(letter, *ports, **where) for letter in letters]


def test_the_stages_come_after_risk_and_before_points() -> None:
    decision = solve(snapshot(pair("abd", rack="r"), [wide("r", 16)]))
    names = [stage.name for stage in decision.solver.stages]
    assert names == ["place", "at_risk", "rung", "machines", "room", "points", "holes", "canonical"]


def test_the_tightest_group_wins_though_it_has_more_room() -> None:
    machines = pair("abd", rack="r") + pair("ef")
    s = snapshot(machines, [wide("r", 16)])
    assert (placed(s, "r").rung, placed(s, "r").group) == (7, "r")
    assert told(solve(s)) == {"rung": 6, "machines": 1, "room": 8}


def test_fewer_machines_win_within_a_rung() -> None:
    # On one rack: 2 x 4, 4 x 2 or 8 x 1.
    machines = [stands(letter, rack="r", gpus=4) for letter in "abdefghi"]
    s = snapshot(machines, [wide("r", 8)])
    assert (placed(s, "r").shape.tasks, told(solve(s))["machines"]) == (2, 1)


def test_a_tighter_rung_wins_though_it_takes_more_machines() -> None:
    # Two large machines far apart, or four small ones of one rack.
    machines = pair("ab") + [stands(letter, rack="r", gpus=4) for letter in "defg"]
    s = snapshot(machines, [wide("r", 16)])
    assert (placed(s, "r").rung, placed(s, "r").shape.tasks) == (7, 4)


def test_the_least_room_left_wins_within_a_rung() -> None:
    s = snapshot(pair("abd", rack="r") + pair("ef", rack="q"), [wide("r", 16)])
    assert (placed(s, "r").group, told(solve(s))["room"]) == ("q", 0)


def test_room_is_what_is_free_at_the_start_of_the_cycle() -> None:
    # Of rack r 17 are free, of q 16: what is held doesn't count.
    machines = pair("abd", rack="r") + pair("ef", rack="q")
    s = snapshot(machines, [running("x", ("d", 7)), wide("r", 16)])
    assert told(solve(s))["room"] == 0
    s = snapshot([*machines, stands("g", rack="q")], [running("x", ("d", 7)), wide("r", 16)])
    assert (placed(s, "r").group, told(solve(s))["room"]) == ("r", 1)


def test_room_is_counted_for_each_run_against_the_start() -> None:
    s = snapshot(pair("abde", rack="r"), [wide("p", 16), wide("q", 16)])
    assert told(solve(s)) == {"rung": 12, "machines": 2, "room": 16 + 16}


def test_a_single_worker_leaves_a_large_domain_alone() -> None:
    s = snapshot([*pair("abd", domain="c"), *pair("ef", domain="d"), stands("x")], [run("r", 1)])
    assert places(s) == {"r": ["x"]}
    assert told(solve(s)) == {"rung": 0, "machines": 0, "room": 0}
    s = snapshot(pair("abd", domain="c") + pair("ef", domain="d"), [run("r", 1)])
    assert (placed(s, "r").group, told(solve(s))["room"]) == ("d", 15)


def test_workers_on_one_machine_leave_its_domain_or_nothing() -> None:
    # Though m has two GPUs free, and x four: neither is in a domain.
    asked = run("r", cpu_cores=1, node_selection={"mode": "any", "count": 2})
    s = snapshot([machine("m", 2), machine("x", 4)], [asked])
    assert told(solve(s)) == {"rung": 0, "machines": 1, "room": 0}
    s = snapshot(pair("ab", domain="c"), [asked])
    assert told(solve(s)) == {"rung": 0, "machines": 1, "room": 16}


def test_a_run_on_a_fabric_inside_a_domain_leaves_the_whole_domain() -> None:
    # Were d and e a group of their own, they would be left with less.
    machines = pair("ab", domain="c") + pair("de", port("roce"), domain="c")
    s = snapshot(machines, [wide("r", 16)])
    assert (placed(s, "r").group, told(solve(s))) == ("c", {"rung": 1, "machines": 1, "room": 16})


def test_on_two_assumed_fabrics_the_one_with_less_room_counts() -> None:
    # b and d are on both; InfiniBand has a too, RoCE e and f.
    machines = [
        stands("a", port()), *pair("bd", port(), port("roce")), *pair("ef", port("roce")),
    ]  # fmt: skip
    s = snapshot(machines, [wide("r", 16)])
    assert told(solve(s)) == {"rung": 5, "machines": 1, "room": 8}
    asked = wide("r", 16, node_selection={"names": ["b", "d"]})
    assert told(solve(snapshot(machines, [asked]))) == {"rung": 5, "machines": 1, "room": 8}


def test_a_small_run_makes_way_for_the_domain_that_a_large_one_needs() -> None:
    machines = pair("ab", domain="c") + pair("xy")
    s = snapshot(machines, [wide("large", 16), run("small", 8)])
    assert sorted(places(s)["large"]) == ["a", "b"]
    assert told(solve(s)) == {"rung": 1, "machines": 1, "room": 0}


@pytest.mark.parametrize("runs", [1, 2, 3])
def test_a_layout_comes_to_what_the_stages_tell(runs: int) -> None:
    machines = pair("ab", domain="c") + pair("de", rack="r") + pair("fgh")
    s: Snapshot = snapshot(machines, [wide(f"r{number}", 16) for number in range(runs)])
    found = solved(s)
    stages = {stage.name: stage.objective for stage in found.chain.stages}
    assert climbing.of_layout(found.layout) == tuple(stages[name] for name in STAGES)


def test_the_figures_of_an_option_are_those_of_its_group() -> None:
    choices = choices_of(snapshot(pair("ab", rack="r"), [wide("r", 16)]))
    best = choices.classes[0]
    assert (climbing.rungs(best), climbing.machines(best), climbing.room_left(best)) == (6, 1, 0)
    names = [sought.name for sought in climbing.goals(choices)]
    assert tuple(names) == STAGES
