from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.reasons import Code
from tests.build import machine, market, offering, wants
from tests.solver.cycles import places, says

SPOT = offering("spot", "1.00", interruptible=True, reclaims={"per_hour": 0})


@pytest.mark.parametrize(
    ("policy", "host"),
    [("never", "firm#1"), ("allow", "spot#1"), ("prefer", "spot#1"), ("require", "spot#1")],
)
def test_each_policy_takes_what_it_says(policy: str, host: str) -> None:
    s = market(SPOT, offering("firm", "2.00"), runs=[wants("r", interruptible=policy)])
    assert places(s) == {"r": [host]}


def test_never_and_require_exclude_with_a_reason() -> None:
    firm = offering("firm", "1.00")
    never = market(SPOT, runs=[wants("r", interruptible="never")])
    assert says(never, "r", "spot") == (
        Code.INTERRUPTION_POLICY, "can be interrupted, which the run never is", {},
    )  # fmt: skip
    require = market(firm, runs=[wants("r", interruptible="require")], machines=[machine("m", 1)])
    told = "can't be interrupted, and the run asks for what can be"
    assert says(require, "r", "firm").message == says(require, "r", "m").message == told


@pytest.mark.parametrize(("rate", "host"), [("1.10", "spot#1"), ("1.100001", "firm#1")])
def test_prefer_pays_up_to_a_tenth_more_and_no_more(rate: str, host: str) -> None:
    spot = offering("spot", rate, interruptible=True, reclaims={"per_hour": 0})
    s = market(spot, offering("firm", "1.00"), runs=[wants("r", interruptible="prefer")])
    assert places(s) == {"r": [host]}


def test_prefer_pays_for_the_sooner_of_equals_within_two_per_cent_of_the_cheapest_of_its_kind() -> (
    None
):
    # Interruptible at 1.05 and 1.07: 1.07 is within 2 % of 1.05 (1.071), and boots at once.
    slow = {"boot_p50_s": 600, "boot_p90_s": 600, "warm_s": 0}
    kind: dict[str, Any] = {"interruptible": True, "reclaims": {"per_hour": 0}}
    s = market(
        offering("firm", "1.00"),
        offering("late", "1.05", startup=slow, **kind),
        offering("soon", "1.07", **kind),
        runs=[wants("r", interruptible="prefer")],
    )
    assert places(s) == {"r": ["soon#1"]}


def test_machines_are_never_interrupted() -> None:
    own = machine("m", 1, rate_usd_per_hour="9")
    s = market(SPOT, runs=[wants("r", interruptible="never")], machines=[own])
    assert places(s) == {"r": ["m"]}


def test_the_policy_holds_where_nothing_costs_anything() -> None:
    s = market(runs=[wants("r", interruptible="require")], machines=[machine("m", 1)])
    assert says(s, "r", "m").code == Code.INTERRUPTION_POLICY


def test_prefer_takes_what_cannot_be_interrupted_where_nothing_else_is_free() -> None:
    runs = [wants("x", interruptible="prefer"), wants("y", interruptible="prefer")]
    s = market(SPOT, offering("firm", "1.00"), runs=runs)
    assert sorted(host for own in places(s).values() for host in own) == ["firm#1", "spot#1"]
