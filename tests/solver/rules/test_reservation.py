from __future__ import annotations

import pytest

from stowplan.model.reasons import Code
from stowplan.model.snapshot import Snapshot
from tests.build import Document, after, machine, run, running, snapshot
from tests.solver.cycles import blames, outcome_of, places, starts

DAY = 86_400


def _booked(
    begins: float, ends: float, asked: Document | None = None, policy: Document | None = None
) -> Snapshot:
    booking = {
        "name": "demo",
        "machines": ["m"],
        "workspace": "vision",
        "from": after(begins),
        "to": after(ends),
    }
    runs = [asked or run("a")]
    return snapshot([machine("m")], runs, reservations=[booking], policy=policy)


def test_a_machine_that_is_booked_now_takes_no_run_of_others() -> None:
    s = _booked(-60, 60, run("a", time_limit_s=1))
    assert blames(s, "a", "m") == (
        Code.MACHINE_RESERVED,
        "reserved by 'demo' for vision since 2026-09-21 05:59:00Z; the run may take 1 s",
        {"reservation": "demo", "begins": "2026-09-21T05:59:00+00:00"},
    )


def test_a_machine_that_is_booked_soon_says_from_when() -> None:
    assert blames(_booked(600, 900), "a", "m") == (
        Code.MACHINE_RESERVED,
        "reserved by 'demo' for vision from 2026-09-21 06:10:00Z; the run has no time limit",
        {"reservation": "demo", "begins": "2026-09-21T06:10:00+00:00"},
    )


def test_a_machine_whose_booking_begins_just_now_is_booked_since_now() -> None:
    text = "reserved by 'demo' for vision since 2026-09-21 06:00:00Z"
    assert blames(_booked(0, 900), "a", "m").message == text
    s = _booked(1, 900)
    text = "reserved by 'demo' for vision from 2026-09-21 06:00:01Z; the run has no time limit"
    assert blames(s, "a", "m").message == text


@pytest.mark.parametrize("begins", [-60, 600])
def test_the_workspace_that_booked_it_is_let_in(begins: int) -> None:
    assert starts(_booked(begins, 900, run("a", workspace="vision"))) == {"a"}


@pytest.mark.parametrize(
    ("begins", "ends", "free"),
    [
        (-60, 0, True),  # it ended just now
        (-60, 0.001, False),
        (0, 60, False),  # it begins just now
        (DAY, DAY + 60, False),  # at the end of what is soon
        (DAY + 0.001, DAY + 60, True),
    ],
)
def test_a_booking_counts_from_a_day_before_it_begins_until_it_ends(
    begins: float, ends: float, free: bool
) -> None:
    assert (starts(_booked(begins, ends)) == {"a"}) is free


def test_the_policy_says_what_is_soon() -> None:
    assert starts(_booked(601, 900, policy={"reservation_soon_s": 600})) == {"a"}
    assert starts(_booked(600, 900, policy={"reservation_soon_s": 600})) == set()


@pytest.mark.parametrize(("limit", "free"), [(599, True), (600, True), (601, False)])
def test_a_run_may_end_exactly_when_a_booking_begins(limit: int, free: bool) -> None:
    assert (starts(_booked(600, 900, run("a", time_limit_s=limit))) == {"a"}) is free


def test_a_booking_that_has_begun_bars_the_shortest_run() -> None:
    assert starts(_booked(0, 900, run("a", time_limit_s=1))) == set()


def test_what_runs_there_already_stays() -> None:
    booked = _booked(-60, 60, running("a", ("m", 0)))
    assert outcome_of(booked, "a").outcome == "kept"


def test_of_two_bookings_the_one_in_the_way_is_named() -> None:
    late = {"name": "a-late", "from": after(7200), "to": after(9000)}
    soon = {"name": "b-soon", "from": after(600), "to": after(900)}
    both = [{"machines": ["m"], "workspace": "vision", **each} for each in (late, soon)]
    s = snapshot([machine("m")], [run("a", time_limit_s=3600)], reservations=both)
    assert blames(s, "a", "m").numbers["reservation"] == "b-soon"


def test_a_run_goes_to_the_machine_that_is_not_booked() -> None:
    booking = {"name": "b", "workspace": "v", "from": after(0), "to": after(60)}
    machines = [machine("m"), machine("n")]
    s = snapshot(machines, [run("a")], reservations=[{**booking, "machines": ["m"]}])
    assert places(s) == {"a": ["n"]}
