"""Ties go to the machine with the fewest GPUs free, then by a hash."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.solver import ties
from stowplan.solver.cycle import solve
from stowplan.solver.hosts import Host
from tests.build import Document, machine, run, running, snapshot
from tests.solver.cycles import choices_of, placed
from tests.solver.test_whole import _solved


def _host(machines: list[Document], runs: list[Document], name: str) -> Host:
    s = snapshot(machines, runs)
    return next(host for host in choices_of(s).grid.hosts if host.name == name)


def test_a_hole_is_twice_what_is_free_and_one_more_on_a_machine_that_is_not_in_use() -> None:
    machines = [machine("m", 4), machine("n", 4)]
    busy = running("old", ("m", 3))
    with_gpu, without = (
        choices_of(snapshot(machines, [run("r", gpus)])).classes[0].ask for gpus in (1, 0)
    )
    assert ties.hole(with_gpu, _host(machines, [busy, run("r", 1)], "m")) == 2 * 1
    assert ties.hole(with_gpu, _host(machines, [busy, run("r", 1)], "n")) == 2 * 4 + 1
    assert ties.hole(without, _host(machines, [busy, run("r", 1)], "n")) == 0


def test_holes_are_filled_before_two_runs_fill_a_larger_one() -> None:
    # Both ways earn 100 points a run: every machine used is in use wholly. On l and n one GPU is
    # free each, on m two, and a run of two fits on m only if the others leave it.
    machines = [machine("l", 2), machine("m", 2), machine("n", 2)]
    runs = [running("a", ("l", 1)), running("b", ("n", 1)), run("r", 1), run("s", 1)]
    decision = solve(snapshot(machines, runs))
    hosts = {placed(decision, name).workers[0].host for name in ("r", "s")}
    assert hosts == {"l", "n"}
    stages = {stage.name: stage.objective for stage in decision.solver.stages}
    assert stages["holes"] == 2 * 1 + 2 * 1


@pytest.mark.parametrize("size", [1, 2])
def test_a_machine_in_use_is_taken_before_one_that_is_not(size: int) -> None:
    machines = [machine("m", size), machine("n", 2 * size)]
    old = running("old", ("n", size))
    assert placed(snapshot(machines, [old, run("r", size)]), "r").workers[0].host == "n"


@given(st.text(min_size=1, max_size=9), st.text(min_size=1, max_size=9))
def test_ranks_are_the_same_at_any_time(one: str, other: str) -> None:
    assert 0 <= ties.rank(one, other) == ties.rank(one, other) < ties.RANKS


def test_what_the_account_says_is_what_the_layout_comes_to() -> None:
    layout, stages = _solved(
        snapshot([machine("m", 4), machine("n", 2)], [run("r", 1), run("s", 2)])
    )
    assert stages["holes"].objective == ties.holes(layout) >= ties.fewest_holes(layout)
