"""Why a host that would do wasn't chosen, where hosts cost something."""

from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.reasons import Code
from stowplan.model.snapshot import Snapshot
from tests.build import Document, after, machine, market, offering, wants
from tests.solver.cycles import placed


def why(snapshot: Snapshot, host: str, run: str = "r") -> tuple[str, object]:
    """Return what is said of a host that a run isn't on, and the stage that decided."""
    [row] = [row for row in placed(snapshot, run).rejected if host in row.hosts]
    assert row.reasons[0].code == Code.OUTRANKED
    return row.reasons[0].message, row.reasons[0].numbers["stage"]


SPOT: dict[str, Any] = {"interruptible": True, "reclaims": {"per_hour": 0}}
SLOW = {"boot_p50_s": 3600, "boot_p90_s": 3600, "warm_s": 0}


@pytest.mark.parametrize(
    ("profile", "said"),
    [
        ("balanced", "3.00 USD an hour there, 1.00 USD an hour where it is"),
        ("cost", "3.00 USD in all there, 1.00 USD in all where it is"),
    ],
)
def test_a_dearer_host_says_by_what_the_profile_measures(profile: str, said: str) -> None:
    s = market(offering("a"), offering("b", "3"), runs=[wants("r", profile=profile)])
    assert why(s, "b") == (said, "value")


def test_a_slower_host_says_when_it_would_be_done_and_one_too_dear_that_it_is() -> None:
    s = market(
        offering("quick", "2"),
        offering("slow", "1.5", startup=SLOW),
        offering("rich", "9"),
        runs=[wants("r", profile="speed")],
    )
    assert why(s, "slow")[0] == "done after 2 h there, done after 1 h where it is"
    assert why(s, "rich")[0] == "9.00 USD in all there, too dear to be chosen for speed"


def test_wishes_are_named() -> None:
    s = market(
        offering("firm"),
        offering("spot", "1.05", **SPOT),
        runs=[wants("r", interruptible="prefer")],
    )
    assert why(s, "firm")[0] == "1.00 USD an hour there, and not interruptible, as it prefers"
    own = machine("m", 1, byoc_pool="lab")
    s = market(offering("a"), runs=[wants("r", pool="lab")], machines=[own])
    assert why(s, "a")[0] == "1.00 USD an hour there, and not in the pool that it wants first"


@pytest.mark.parametrize(
    ("better", "worse", "profile", "said"),
    [
        ({}, {"starts": {"attempts": 9, "failures": 0, "last_failed_at": after(-60)}}, "balanced",
         ("as good, and a start failed there lately", "recent_failures")),
        ({"health": 0.9}, {"health": 0.5}, "balanced",
         ("as good, and health 0.5 there, 0.9 where it is", "health")),
        ({}, {"startup": {"boot_p50_s": 60, "boot_p90_s": 60, "warm_s": 0}}, "balanced",
         ("as good, and starts after 60 s there, 0 s where it is", "start")),
        ({"gpus": 2}, {"gpus": 8}, "cost",
         ("as good, and used to 12% there, 50% where it is", "fit")),
    ],
)  # fmt: skip
def test_within_the_band_the_first_preference_that_differs_is_told(
    better: Document, worse: Document, profile: str, said: tuple[str, str]
) -> None:
    s = market(offering("a", **worse), offering("b", **better), runs=[wants("r", profile=profile)])
    assert placed(s, "r").workers[0].host == "b#1"
    assert why(s, "a") == said


def test_the_value_that_the_cycle_left_a_run_is_told_beside_what_it_has() -> None:
    # b is healthier and within 2 % of a's rate.
    s = market(offering("a", "1.00", health=0.5), offering("b", "1.02"), runs=[wants("r")])
    value = placed(s, "r").value
    assert value
    assert (value.measure, str(value.chosen), str(value.reference), str(value.band)) == (
        "usd_per_hour", "1.02", "1", "0.02",
    )  # fmt: skip


def test_identical_runs_are_matched_rank_by_rank() -> None:
    # One instance at 1.00 and one at 2.00: the two are left those, whoever has which.
    s = market(offering("a", "1"), offering("b", "2"), runs=[wants("x"), wants("y")])
    values = [placed(s, name).value for name in "xy"]
    assert sorted(str(value.reference) for value in values if value) == ["1", "2"]


@pytest.mark.parametrize(("saves", "kept"), [({"interval_s": 900}, 0.875), (None, 0.5)])
def test_scores_say_what_an_interruption_leaves(saves: Document | None, kept: float) -> None:
    # Of an hour, half of 15 of 60 minutes is lost: an eighth; without saves half of all.
    s = market(offering("spot", **SPOT), runs=[wants("r") | {"checkpoint": saves}])
    assert placed(s, "r").scores.recovery_value == kept


def test_scores_say_how_far_the_host_is_from_the_best() -> None:
    # Balanced takes the rate of 1.00, which ends after 2 h for 2.00; the best is 1 h for 1.50.
    s = market(offering("slow", startup=SLOW), offering("quick", "1.5"), runs=[wants("r")])
    scores = placed(s, "r").scores
    assert (scores.cost_to_complete, scores.time_to_result) == (0.75, 0.5)


def test_of_many_dearer_hosts_the_span_is_told_once() -> None:
    many = [offering(f"a{n:03}", f"{3 + n / 100:.2f}") for n in range(40)]
    [told] = placed(market(*many, offering("b"), runs=[wants("r")]), "r").rejected
    assert len(told.hosts) == 40
    assert told.reasons[0].message == "3.00 to 3.39 USD an hour there, 1.00 USD an hour where it is"


def test_warm_is_told_where_it_decides_first_and_where_it_decides_last() -> None:
    warm, fit = offering("warm", gpus=2, warm=1), offering("fit", gpus=1)
    by_cost = market(warm, fit, runs=[wants("r", profile="cost")])
    assert why(by_cost, "fit") == ("as good, and not warm there", "warm")
    by_rate = market(warm, fit, runs=[wants("r")])
    assert why(by_rate, "warm (warm)")[1] == "fit"
    alike = market(offering("a", available=2, warm=1), runs=[wants("r")])
    assert why(alike, "a") == ("as good, and not warm there", "warm")


def test_sold_out_is_not_outranked() -> None:
    s = market(offering("a"), offering("b", "2", available=0), runs=[wants("r")])
    [told] = [row for row in placed(s, "r").rejected if "b" in row.hosts]
    assert told.reasons[0].code == Code.NO_CAPACITY_NOW


def test_a_host_is_told_by_the_best_that_other_profiles_would_choose_it_for() -> None:
    # Cost: quick costs 1.50 and slow 2 h at 0.90, 1.80.
    s = market(
        offering("quick", "1.50"), offering("slow", "0.90", startup=SLOW),
        runs=[wants("r", profile="cost")],
    )  # fmt: skip
    assert why(s, "slow") == ("1.80 USD in all there, 1.50 USD in all where it is", "value")
    s = market(offering("quick", "1.50"), offering("slow", "0.90", startup=SLOW), runs=[wants("r")])
    assert why(s, "quick") == (
        "1.50 USD an hour there, 0.90 USD an hour where it is", "value",
    )  # fmt: skip


def test_of_hosts_alike_within_the_band_the_dearer_one_says_so() -> None:
    s = market(offering("a", "1.00"), offering("b", "1.02"), runs=[wants("r")])
    assert why(s, "b") == ("as good, and 1.02 USD there, 1.00 where it is", "price")
