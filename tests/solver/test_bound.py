from __future__ import annotations

from hypothesis import given

from stowplan.model.snapshot import Snapshot
from stowplan.solver.bound import most_weight, weight
from tests.build import machine, run, running, snapshot
from tests.solver.cycles import choices_of, class_of, solved
from tests.strategies import examples, snapshots

# A new run weighs 8 for each of its GPUs, or 8 without GPUs.


def test_runs_that_all_fit_count_whole() -> None:
    choices = choices_of(snapshot([machine("m", 4)], [run("a", 3), run("b", 1), run("c")]))
    assert most_weight(choices, 0) == 8 * 3 + 8 + 8


def test_the_free_gpus_go_to_the_heaviest_for_their_gpus_and_the_last_in_part() -> None:
    # 6 of 8 GPUs are free. old weighs 2 x 16, new 5 x 8: 2 GPUs for 32, then 4 of 5 for 32.
    old = run("old", 2, submitted_at="2026-09-21T00:00:00Z")
    runs = [running("r", ("m", 2)), run("new", 5), old]
    assert most_weight(choices_of(snapshot([machine("m", 8)], runs)), 0) == 32 + 32


def test_a_tier_weighs_what_starts_in_it() -> None:
    runs = [run("a", 3, priority=5), run("b", 2), run("c", 1), run("d", 1)]
    choices = choices_of(snapshot([machine("m", 8)], runs))
    values = [0] * len(choices.program.upper)
    for name, count in (("a", 1), ("b", 1), ("c", 2)):
        (column,) = choices.starts(class_of(choices, name)).terms
        values[column] = count
    assert [weight(choices, tier).at(values) for tier in (5, 0, -1)] == [24, 16 + 2 * 8, 0]


def test_only_runs_of_the_tier_that_could_start_count() -> None:
    runs = [run("a", 1, priority=5), run("b", 2), run("c", 9), run("d", cpu_cores=65)]
    choices = choices_of(snapshot([machine("m", 8)], runs))
    assert (most_weight(choices, 5), most_weight(choices, 0)) == (8, 16)
    assert most_weight(choices, -1) == 0


@examples(60)
@given(snapshots())
def test_no_tier_places_more_than_its_bound(snapshot: Snapshot) -> None:
    choices, layout = choices_of(snapshot), solved(snapshot).layout
    tiers = sorted({each.ask.priority for each in choices.classes}, reverse=True)
    for tier, placed in zip(tiers, layout.weights(), strict=True):
        assert placed <= most_weight(choices, tier)
