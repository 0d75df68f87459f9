from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from stowplan.model.snapshot import Snapshot
from stowplan.solver.settings import Settings
from tests.build import after


def _snapshot(**solver: Any) -> Snapshot:
    return Snapshot.read({"now": after(0), "seed": 7, "solver": solver})


def test_settings_are_the_snapshots_own() -> None:
    own = _snapshot(time_limit_s=5, gap=0.5, workers=3)
    assert Settings.of(own) == Settings(time_limit_s=5, gap=0.5, workers=3, seed=7)


def test_a_snapshot_that_says_nothing_has_the_usual_ones() -> None:
    usual = Settings(time_limit_s=30, gap=0.001, workers=1, seed=7, profile="balanced")
    assert Settings.of(_snapshot()) == usual
    assert Settings() == usual.model_copy(update={"seed": 1})


def test_what_the_caller_gives_comes_before_the_snapshots_own() -> None:
    own = _snapshot(time_limit_s=5, gap=0.5)
    given = Settings.of(own, time_limit_s=0, gap=0, profile="cost")
    assert (given.time_limit_s, given.gap, given.profile) == (0, 0, "cost")


@pytest.mark.parametrize(
    "wrong", [{"gap": 1.1}, {"gap": -0.1}, {"time_limit_s": -1}, {"workers": 0}, {"sed": 1}]
)
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Settings(**wrong)


def test_settings_never_change() -> None:
    with pytest.raises(ValidationError):
        Settings().gap = 0.5  # type: ignore[misc]  # that it is refused is the point
