"""What `import stowplan` gives."""

from __future__ import annotations

from typing import Any

import pytest

import stowplan
from tests.build import machine, run, snapshot


@pytest.mark.parametrize("given", ["fleet.yaml", {"now": "2026-09-21T06:00:00Z"}, None])
def test_what_is_no_snapshot_is_refused_with_how_to_load_one(given: Any) -> None:
    with pytest.raises(TypeError, match=r"solve takes a Snapshot, not .*stowplan\.load"):
        stowplan.solve(given)
    with pytest.raises(TypeError, match=r"audit takes a Snapshot, not .*stowplan\.load"):
        stowplan.audit(given, None)  # type: ignore[arg-type]  # the first is refused before


def test_a_snapshot_is_solved_and_audited_by_place_or_by_name() -> None:
    asked = snapshot([machine("m", 1)], [run("r", 1)])
    decision = stowplan.solve(snapshot=asked, settings=stowplan.Settings())
    assert stowplan.audit(asked, decision) == ()
