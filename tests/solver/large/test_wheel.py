"""The wheel: an order of turns in which all start, then on tighter groups."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given

from stowplan.model.snapshot import Snapshot
from stowplan.solver.large.turns import Turns
from stowplan.solver.large.wheel import Spin, Wheel
from tests.build import machine, run, running, snapshot
from tests.gang_strategies import gang_snapshots
from tests.solver.large.test_turns import racked, turns_of
from tests.strategies import examples


def _wheel(turns: Turns) -> Wheel:
    return Wheel(turns, random.Random(1), lambda: False)


def _every(turns: Turns) -> dict[tuple[str, int], int]:
    return {turn.key: turn.count for turn in turns.in_line}


def _contested() -> Snapshot:
    """Rack a has the one machine for p, and the run a fits around it on the other two."""
    machines = [racked("a1", "a", 8), racked("a2", "a", 4), racked("b1", "b", 4)]
    pinned = run("p", 8, node_selection={"match_labels": {"topology/rack": "a"}})
    return snapshot(machines, [run("a", 8, machines=2), pinned])


def test_all_start_where_some_order_lets_them() -> None:
    turns = turns_of(_contested())
    in_line = turns.built(turns.in_line, _every(turns))
    assert in_line.missing  # a, first in line, takes a1
    spin = _wheel(turns).started(_every(turns), {})
    assert not spin.built.missing
    assert sum(map(sum, spin.built.layout.started)) == 2


def test_who_could_be_nearer_comes_earlier() -> None:
    # In line s takes rack a, and leaves r, which is as large, on machines of no rack in common.
    machines = [racked("a1", "a"), racked("a2", "a"), machine("c", 8), machine("d", 8)]
    runs = [run("s", 8, machines=2), run("r", 16, machines=2)]
    busy = running("x", ("c", 4))
    turns = turns_of(snapshot(machines, [*runs, busy]))
    spin = Spin(turns.in_line, {}, turns.built(turns.in_line, _every(turns)))
    better = _wheel(turns).tighter(spin, _every(turns))
    assert better.standing() >= spin.built.standing()
    assert not better.missing


@examples(40)
@given(gang_snapshots())
def test_no_turn_of_the_wheel_makes_it_worse(s: Snapshot) -> None:
    turns = turns_of(s)
    first = Spin(turns.in_line, {}, turns.built(turns.in_line, _every(turns)))
    counts = _every(turns)
    for key, missing in first.built.missing.items():
        counts[key] -= missing
    tighter = _wheel(turns).tighter(first, counts)
    assert tighter.standing() >= first.built.standing()
    assert _wheel(turns).started(counts, {}).built.standing()[0] <= first.built.standing()[0]


@examples(20)
@given(gang_snapshots())
def test_the_same_draw_gives_the_same_answer(s: Snapshot) -> None:
    def answer() -> Any:
        turns = turns_of(s)
        spin = _wheel(turns).started(_every(turns), {})
        built = _wheel(turns).tighter(spin, _every(turns))
        return built.layout.there, built.layout.started

    assert answer() == answer()


def test_it_stops_when_time_is_over() -> None:
    turns = turns_of(_contested())
    wheel = Wheel(turns, random.Random(1), lambda: True)
    spin = wheel.started(_every(turns), {})
    assert wheel.tighter(spin, _every(turns)).standing() == spin.built.standing()
