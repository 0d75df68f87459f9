from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.audit import audit
from tests.build import after, broken, decided, machine, run, snapshot
from tests.model.audit.bought import market, offering, priced, work


def _broken(start: int, end: int, workspace: str = "default", **asks: Any) -> set[str]:
    reservation = {
        "name": "nightly",
        "machines": ["m"],
        "workspace": "vision",
        "from": after(start),
        "to": after(end),
    }
    s = snapshot(
        [machine("m")],
        [run("a", workspace=workspace, **asks)],
        reservations=[reservation],
        policy={"reservation_soon_s": 3600},
    )
    return broken(s, decided(s, {"a": [("m", 0)]}))


@pytest.mark.parametrize(("start", "end"), [(0, 10), (-10, 1), (1, 10), (3600, 7200)])
def test_a_machine_reserved_now_or_soon_takes_no_other_workspace(start: int, end: int) -> None:
    assert _broken(start, end) == {"reservation"}


@pytest.mark.parametrize(("start", "end"), [(-10, 0), (3601, 7200)])
def test_a_reservation_that_is_over_or_far_off_keeps_nobody_out(start: int, end: int) -> None:
    assert _broken(start, end) == set()


@pytest.mark.parametrize(("start", "end"), [(-10, 10), (10, 20)])
def test_the_workspace_it_is_for_goes_there(start: int, end: int) -> None:
    assert _broken(start, end, workspace="vision") == set()


def test_a_run_that_ends_exactly_when_it_begins_is_in_time() -> None:
    assert _broken(600, 1200, time_limit_s=600) == set()
    assert _broken(600, 1200, time_limit_s=601) == {"reservation"}


def test_a_time_limit_does_not_help_within_the_reservation() -> None:
    assert _broken(-10, 1200, time_limit_s=1) == {"reservation"}


def test_reservations_bind_machines_only() -> None:
    kept = {"name": "k", "machines": ["a100#1"], "workspace": "other"}
    kept |= {"from": after(-10), "to": after(10)}
    s = market([offering()], [work("a")], reservations=[kept])
    assert audit(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == ()
