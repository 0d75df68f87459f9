from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stowplan.model.decision import Decision, Stage
from tests.build import decided, machine, run, running, snapshot

EXAMPLE = Path(__file__).parents[2] / ".." / "shared" / "spec" / "decision.example.json"


@pytest.mark.skipif(not EXAMPLE.exists(), reason="the example isn't here (../shared/spec)")
def test_the_example_of_a_decision_can_be_read_and_has_our_names_only() -> None:
    example = _filled(json.loads(EXAMPLE.read_text(encoding="utf-8")))
    decision = Decision.model_validate(example)
    written = json.loads(decision.model_dump_json())
    assert [place for place in _places(example) if not _has(written, place)] == []


def test_a_stage_that_does_not_say_claims_no_proof() -> None:
    figures: dict[str, Any] = {"objective": 1, "bound": 1, "gap": 0, "wall_s": 0}
    assert Stage(name="place", deterministic=0, **figures).status == "FEASIBLE"


def test_a_frame_counts_what_is_placed_kept_or_held() -> None:
    whole = snapshot(
        [machine("m", 8), machine("down", 2, state="down")],
        [
            run("placed", 3),
            running("kept", ("m", ["m/0", "m/1"])),
            running("held", ("down", ["down/0"])),
            running("lost", ("m", ["m/2", "m/9"])),
            running("stopped", ("m", ["m/3"])) | {"state": "stopped"},
        ],
    )
    frame = decided(whole, {"placed": [("m", ["m/5", "m/6", "m/7"])]}).to_frame()
    rows = frame.set_index("run")[["outcome", "hosts", "gpus", "workers"]].to_dict("index")
    assert {run: tuple(row.values()) for run, row in rows.items()} == {
        "placed": ("placed", ["m"], 3, 1),
        "kept": ("kept", ["m"], 2, 1),
        "held": ("held", ["down"], 1, 1),
        "lost": ("withdrawn", ["m"], 0, 0),
        "stopped": ("withdrawn", ["m"], 0, 0),
    }


def _filled(content: Any) -> Any:  # Any: whatever JSON can hold
    """Return the example with a time where it leaves one out."""
    if isinstance(content, dict):
        return {key: _filled(value) for key, value in content.items()}
    if isinstance(content, list):
        return [_filled(item) for item in content]
    return "2026-09-21T08:00:00Z" if content == "..." else content


type _Place = tuple[str | int, ...]


def _places(content: Any, place: _Place = ()) -> list[_Place]:  # Any: whatever JSON can hold
    pairs = content.items() if isinstance(content, dict) else ()
    items = enumerate(content) if isinstance(content, list) else pairs
    return [place, *(found for key, inner in items for found in _places(inner, (*place, key)))]


def _has(content: Any, place: _Place) -> bool:  # Any: whatever JSON can hold
    for part in place:
        if isinstance(content, dict) and part not in content:
            return False
        content = content[part]
    return True
