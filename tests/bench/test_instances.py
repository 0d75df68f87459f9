"""What the instances hold: their size, their seeds, and what makes them hard."""

from __future__ import annotations

import pytest

from tests.bench.instances import irregular, openb, racks
from tests.bench.plain import GPUS, MIB, MILLICORES, SOUND, UNIT, problem_of


@pytest.mark.skipif(
    not openb.FOLDER.exists(), reason="the openb trace isn't here (../shared/data/openb)"
)
def test_openb_asks_for_1_3_times_its_gpus() -> None:
    problem = problem_of(openb.resampled("gpuspec33", 42))
    asked, free = int(problem.counts @ problem.asks[:, GPUS]), int(problem.room[:, GPUS].sum())
    assert (len(problem.hosts), free) == (1213, 6212)
    assert (len(problem.queue), len(problem.kinds)) == (8893, 374)
    assert 1.299 < asked / free <= 1.3


def test_a_seed_gives_the_same_instance_again_and_another_seed_another() -> None:
    assert racks.snapshot(20, 8, 4, 30, seed=3) == racks.snapshot(20, 8, 4, 30, seed=3)
    assert racks.snapshot(20, 8, 4, 30, seed=3) != racks.snapshot(20, 8, 4, 30, seed=4)
    assert irregular.snapshot("tight", 3, 20) == irregular.snapshot("tight", 3, 20)
    assert irregular.snapshot("tight", 3, 20) != irregular.snapshot("tight", 4, 20)


def test_racks_are_half_in_use_with_gpus_at_risk_and_pinned_runs_of_three_priorities() -> None:
    problem = problem_of(racks.snapshot(200, 8, 4, 360))
    room = problem.room
    assert 0.5 < 1 - room[:, GPUS].sum() / (8 * len(room)) < 0.65
    assert 0 < (room[:, GPUS] - room[:, SOUND]).sum() < 0.1 * room[:, GPUS].sum()
    assert problem.tiers == (2, 1, 0)
    pinned = [kind for kind in problem.kinds if kind.labels]
    assert 0.25 < len(pinned) / len(problem.kinds) < 0.75
    assert any(kind.asks[SOUND] for kind in problem.kinds)


@pytest.mark.parametrize("variant", ["exp2", "tight"])
def test_irregular_runs_weigh_once_twice_or_four_times_their_gpus(
    variant: irregular.Variant,
) -> None:
    problem = problem_of(irregular.snapshot(variant, 0, 100))
    factors = {kind.weight / kind.asks[GPUS] / UNIT for kind in problem.kinds}
    assert factors == {1, 2, 4}
    assert (problem.room >= 0).all()
    for figure in (MILLICORES, MIB):
        assert len(set(problem.room[:, figure])) > 20
