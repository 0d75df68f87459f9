from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.audit import audit
from stowplan.model.decision import Value
from stowplan.model.snapshot import Snapshot
from tests.build import Document, altered, broken, decided, machine, run, snapshot
from tests.model.audit.bought import (
    by_rate,
    market,
    offering,
    priced,
    rented,
    value,
    with_history,
    with_rate,
    work,
)

TWO = [offering("cheap", "3.60"), offering("dear", "3.672")]
"""The dear one is 2 % above the cheap."""


def _on(s: Snapshot, host: str, rate: str, told: Value, gpus: int = 1) -> set[str]:
    return broken(s, priced(s, {"a": [(host, gpus)]}, rate, values={"a": told}))


def _asking(profile: str, **placement: Any) -> Document:
    return work("a", placement={"profile": profile, **placement})


@pytest.mark.parametrize(
    ("profile", "told"),
    [
        ("balanced", by_rate("3.60")),
        ("cost", value("cost_usd", "3.73")),  # 3730 s at a tenth of a cent
        ("speed", value("finish_s", "3700", band="0")),  # the teardown comes after
    ],
)
def test_a_value_is_what_the_profile_optimises(profile: str, told: Value) -> None:
    s = market([TWO[0]], [_asking(profile)])
    assert _on(s, "cheap#1", "3.60", told) == set()
    for other in ("balanced", "cost", "speed"):
        if other != profile and not (other == "speed" and profile == "cost"):
            assert _on(market([TWO[0]], [_asking(other)]), "cheap#1", "3.60", told) == {"value"}


def test_a_value_that_is_not_what_the_host_comes_to_is_refused() -> None:
    s = market([TWO[0]], [work("a")])
    for wrong in ("3.59", "3.61", "0"):
        assert _on(s, "cheap#1", "3.60", by_rate(wrong)) == {"value"}


def test_a_value_within_the_band_of_its_reference_will_do() -> None:
    s = market(TWO, [work("a")])
    assert _on(s, "dear#1", "3.672", by_rate("3.672", "3.60")) == set()


def test_a_value_beyond_the_band_of_its_reference_is_refused() -> None:
    s = market([TWO[0], offering("dear", "3.672001")], [work("a")])
    assert _on(s, "dear#1", "3.672001", by_rate("3.672001", "3.60")) == {"value"}


def test_a_policy_may_set_the_band() -> None:
    policy = {"bands": {"profile": 0.1}}
    s = market([TWO[0], offering("dear", "3.96")], [work("a")], policy=policy)
    assert _on(s, "dear#1", "3.96", by_rate("3.96", "3.60", "0.1")) == set()
    assert _on(s, "dear#1", "3.96", by_rate("3.96", "3.60", "0.02")) == {"value"}


def test_a_run_that_wants_speed_has_no_band() -> None:
    slow = offering("slow", startup={"boot_p50_s": 101, "boot_p90_s": 200})
    s = market([TWO[0], slow], [_asking("speed")])
    assert _on(s, "slow#1", "3.60", value("finish_s", "3701", band="0")) == set()
    assert _on(s, "slow#1", "3.60", value("finish_s", "3701", "3700", band="0")) == {"value"}
    assert _on(s, "slow#1", "3.60", value("finish_s", "3701", band="0.02")) == {"value"}


def test_a_run_that_wants_speed_may_be_left_hosts_too_dear_for_it_by_their_cost() -> None:
    s = market([TWO[0], offering("fast", "36")], [_asking("speed")])
    assert _on(s, "fast#1", "36", value("cost_usd", "37.3", band="0")) == set()


def test_a_reference_that_no_host_comes_to_is_refused() -> None:
    s = market(TWO, [work("a")])
    # 3.5999 is less than any host asks, though the band would allow 3.672.
    assert _on(s, "cheap#1", "3.60", by_rate("3.60", "3.5999")) == {"value"}


@pytest.mark.parametrize(
    "cheap",
    [
        offering("cheap", "3.60", gpus=0),
        offering("cheap", "3.60", cpu_cores=1),
        offering("cheap", "3.60", available=0),
    ],
)
def test_a_reference_is_of_a_host_that_would_take_the_run(cheap: Document) -> None:
    s = market([cheap, TWO[1]], [work("a", cpu_cores=8)])
    assert _on(s, "dear#1", "3.672", by_rate("3.672")) == set()
    assert _on(s, "dear#1", "3.672", by_rate("3.672", "3.60")) == {"value"}


def test_a_reference_is_of_a_host_within_the_run_s_limits() -> None:
    asked = work("a", placement={"interruptible": "never"})
    s = market([offering("cheap", "3.60", interruptible=True), TWO[1]], [asked])
    assert _on(s, "dear#1", "3.672", by_rate("3.672", "3.60")) == {"value"}


def test_a_reference_may_be_of_a_machine() -> None:
    s = market([TWO[1]], [work("a")], [rented(rate="3.60")])
    assert _on(s, "dear#1", "3.672", by_rate("3.672", "3.60")) == set()


def test_of_runs_alike_one_may_end_up_below_its_own_reference() -> None:
    s = market(TWO, [work("a")])
    assert _on(s, "cheap#1", "3.60", by_rate("3.60", "3.672")) == set()


def test_a_host_that_often_fails_to_start_counts_as_dearer_for_cost() -> None:
    # f = 3 / (11 + 4) = 0.2: 3.73 / 0.8 = 4.6625.
    failing = offering(starts={"attempts": 11, "failures": 3})
    s = market([failing], [_asking("cost")])
    assert _on(s, "a100#1", "3.60", value("cost_usd", "4.6625")) == set()
    assert _on(s, "a100#1", "3.60", value("cost_usd", "3.73")) == {"value"}


def test_a_paid_host_ranks_at_nothing() -> None:
    warm = {"count": 1, "paid_until": "2026-09-21T08:00:00Z"}
    s = market([offering(warm=warm)], [work("a")])
    assert _on(s, "a100#1", "3.60", by_rate("0")) == set()
    assert _on(s, "a100#1", "3.60", by_rate("3.60")) == {"value"}


def test_an_interruptible_host_that_is_preferred_may_be_a_tenth_dearer() -> None:
    for rate, rules in (("3.96", set()), ("3.960001", {"value"})):
        spot = offering("spot", rate, interruptible=True)
        s = market([TWO[0], spot], [work("a", placement={"interruptible": "prefer"})])
        assert _on(s, "spot#1", rate, by_rate(rate, "3.60")) == rules
    s = market([TWO[0], offering("spot", "3.96", interruptible=True)], [work("a")])
    assert _on(s, "spot#1", "3.96", by_rate("3.96", "3.60")) == {"value"}


def test_an_unknown_running_time_is_measured_by_the_rate_under_every_profile() -> None:
    for profile in ("balanced", "cost", "speed"):
        s = market([TWO[0]], [run("a", 1, placement={"profile": profile})])
        assert _on(s, "cheap#1", "3.60", by_rate("3.60")) == set()
    assert _on(s, "cheap#1", "3.60", value("finish_s", "100", band="0")) == {"value"}


def test_a_running_time_that_is_known_on_its_host_alone_may_be_measured_by_the_rate() -> None:
    cards = {"model": "A100", "memory_gb": 80, "count": 8, "family": "ampere"}
    asked = run("a", 1, labels={"job": "x"}, placement={"profile": "cost"})
    s = market([offering(accelerator=cards), offering("l4", gpus=1)], [asked])
    s = with_history(s, ampere=[800, 900, 1000])
    # 100 s of boot, 900 of work, 30 of teardown.
    assert _on(s, "a100#1", "3.60", value("cost_usd", "1.03")) == set()
    assert _on(s, "a100#1", "3.60", by_rate("3.60")) == set()
    assert _on(s, "l4#1", "3.60", by_rate("3.60")) == set()
    assert _on(s, "l4#1", "3.60", value("cost_usd", "0.13")) == {"value"}


def test_an_array_has_the_value_of_its_dearest_element() -> None:
    s = market(TWO, [work("a", array={"size": 2})])
    places = {"a": [("cheap#1", 1), ("dear#1", 1)]}
    for told, rules in ((by_rate("3.672"), set()), (by_rate("3.60"), {"value"})):
        assert broken(s, priced(s, places, "7.272", values={"a": told})) == rules


def test_a_value_may_be_left_out_only_where_nothing_costs() -> None:
    s = snapshot([machine("m", 1)], [work("a")])
    assert audit(s, decided(s, {"a": [("m", 1)]})) == ()
    s = market([], [work("a")], [rented()])
    none = with_rate(decided(s, {"a": [("m", 1)]}), "3.60")
    assert broken(s, none) == {"value"}


def test_where_nothing_costs_a_value_in_dollars_is_nothing() -> None:
    s = snapshot([machine("m", 1)], [work("a")])
    decision = decided(s, {"a": [("m", 1)]})
    assert audit(s, altered(s, decision, "a", value=by_rate("0"))) == ()
    assert broken(s, altered(s, decision, "a", value=by_rate("1"))) == {"value"}
    finish = value("finish_s", "3600", band="0")
    fast = altered(s, decision, "a", value=finish, profile="speed")
    assert audit(s, fast) == ()
    late = altered(s, decision, "a", value=value("finish_s", "3601", band="0"), profile="speed")
    assert broken(s, late) == {"value"}
