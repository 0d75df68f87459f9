from __future__ import annotations

from hypothesis import given

from stowplan.model.snapshot import Snapshot
from stowplan.solver.large.bounds import Bounds
from tests.build import machine, run, snapshot
from tests.solver.cycles import choices_of, over_cells, solved
from tests.strategies import examples, snapshots


@examples(50)
@given(snapshots())
def test_no_tier_weighs_more_than_its_bound_beside_what_starts_above(s: Snapshot) -> None:
    layout = solved(s).layout
    over = Bounds(over_cells(s))
    for bounds in (over, Bounds(choices_of(s)), Bounds(choices_of(s), over)):
        found = bounds.of(layout.started)
        assert all(own <= most for own, most in zip(layout.weights(), found, strict=True))
        assert bounds.is_best(layout) == (layout.weights() == found)
    assert all(map(int.__le__, found, over.of(layout.started)))


def _two_tiers() -> Bounds:
    """Three GPUs for one high run leave one for two low ones."""
    runs = [run("high", 3, priority=1), run("low0", 1), run("low1", 1)]
    return Bounds(choices_of(snapshot([machine("m", 4)], runs)))


def test_what_starts_above_takes_its_share_of_a_lower_tier() -> None:
    bounds = _two_tiers()
    assert bounds.tiers == [1, 0]
    assert bounds.of([[1], [1]]) == (24, 8)
    assert bounds.of([[0], [0]]) == (24, 16)


def test_what_starts_in_a_tier_or_below_makes_no_difference_to_its_bound() -> None:
    bounds = _two_tiers()
    assert bounds.bound(1, [[0], [2]]) == bounds.bound(1, [[1], [0]]) == 24
    assert bounds.bound(0, [[1], [0]]) == bounds.bound(0, [[1], [1]]) == 8


def test_a_bound_that_is_proven_is_remembered_beside_what_starts_above() -> None:
    bounds = _two_tiers()
    bounds.prove(0, [[0], [2]], 10)
    bounds.prove(0, [[0], [1]], 12)
    assert bounds.bound(0, [[0], [0]]) == 10
    assert bounds.bound(0, [[1], [0]]) == 8


def test_a_bound_takes_runs_whole_where_the_program_says_so() -> None:
    # 5 + 5 of 8 GPUs: in parts they would use all of them, whole there is one of them.
    choices = choices_of(snapshot([machine("m", 8)], [run("a", 5), run("b", 5)]))
    assert Bounds(choices).of([[0]]) == (5 * 8,)
    assert Bounds(choices).goal(0).maximise
