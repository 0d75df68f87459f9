"""What hosts are worth to a run alone: tiers, measures, regrets, bands."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from stowplan.model.snapshot import Snapshot
from stowplan.solver.hosts import Host
from stowplan.solver.money.appraisal import Appraisal, Tier
from tests.build import Document, machine, market, offering, run, wants
from tests.money_strategies import money_snapshots
from tests.solver.cycles import grid_of
from tests.strategies import examples
from tests.witness.prices import Place, Prices

SPOT: dict[str, Any] = {"interruptible": True, "reclaims": {"per_hour": 0}}


def appraisal(*hosts: Document, asked: Document, **more: Any) -> Appraisal:
    grid = grid_of(market(*hosts, runs=[asked], **more))
    (found,) = grid.appraisals
    assert found is not None
    return found


def test_balanced_measures_the_rate_and_regrets_it_for_as_long_as_it_runs() -> None:
    two_hours = run("r", 1, expected_duration_s=7200)
    found = appraisal(offering("a", "1.00"), offering("b", "1.50"), asked=two_hours)
    assert (found.by, found.measure.tolist()) == ("usd_per_hour", [1_000_000, 1_500_000])
    assert found.regret.tolist() == [0, 1_000_000]  # 0.50 an hour for two hours


def test_cost_measures_what_it_comes_to_and_counts_failed_starts() -> None:
    # 2 of 40 starts failed: x 44 / 42. 1.05 x 44 / 42 = 1.10 exactly.
    risky = offering("b", "1.05", starts={"attempts": 40, "failures": 2})
    found = appraisal(offering("a", "1.00"), risky, asked=wants("r", profile="cost"))
    assert (found.by, found.measure.tolist()) == ("cost_usd", [1_000_000, 1_100_000])
    assert found.regret.tolist() == [0, 100_000]
    assert found.cost.tolist() == [1_000_000, 1_050_000]  # what budgets count


def test_speed_measures_the_end_among_hosts_that_are_not_too_dear() -> None:
    hour = {"boot_p50_s": 3600, "boot_p90_s": 3600, "warm_s": 0}
    found = appraisal(
        offering("cheap", "1.00", startup=hour),  # 2 h, 2.00 USD
        offering("quick", "3.00"),  # 1 h, 3.00 USD: 1.5 times as much, just allowed
        offering("rich", "3.000001"),  # too dear
        asked=wants("r", profile="speed"),
    )
    assert found.tier.tolist() == [Tier.PLAIN, Tier.PLAIN, Tier.BEYOND]
    assert found.measure.tolist() == [7200, 3600, 3_000_001]
    # Twice as late as the fastest: the lowest cost above zero once more, 2.00 USD.
    assert found.regret.tolist() == [2_000_000, 0, 1_000_001]


def test_regret_for_speed_is_counted_in_dollars_where_all_costs_nothing() -> None:
    grid = grid_of(market(runs=[wants("r", profile="speed")], machines=[machine("m", 1)]))
    (found,) = grid.appraisals
    assert found is not None
    assert (found.by, found.measure.tolist(), found.regret.tolist()) == ("finish_s", [3600], [0])


def test_without_a_running_time_every_profile_measures_the_rate() -> None:
    risky = offering("b", "1.05", starts={"attempts": 40, "failures": 2})
    for profile, second in (("balanced", 1_050_000), ("cost", 1_100_000), ("speed", 1_100_000)):
        asked = run("r", 1, placement={"profile": profile})
        found = appraisal(offering("a", "1.00"), risky, asked=asked)
        assert (found.by, found.measure.tolist()) == ("usd_per_hour", [1_000_000, second])


def test_a_pool_comes_before_all_and_preferred_hosts_before_others() -> None:
    found = appraisal(
        offering("firm", "1.00"),
        offering("near", "1.10", **SPOT),
        offering("over", "1.100001", **SPOT),
        asked=wants("r", interruptible="prefer", pool="lab"),
        machines=[machine("m", 1, byoc_pool="lab"), machine("n", 1, rate_usd_per_hour="1.05")],
    )
    # By name: m, n, then firm, near, over. The lowest is m's 0, so that nothing is near it.
    assert found.tier.tolist() == [Tier.POOL, *[Tier.PLAIN] * 4]
    found = appraisal(
        offering("firm", "1.00"),
        offering("near", "1.10", **SPOT),
        offering("over", "1.100001", **SPOT),
        asked=wants("r", interruptible="prefer"),
    )
    assert found.tier.tolist() == [Tier.PLAIN, Tier.PREFERRED, Tier.PLAIN]


def test_a_band_is_two_per_cent_rounded_down_and_a_preferred_one_ends_at_the_allowance() -> None:
    found = appraisal(offering("a", "1.000049"), asked=wants("r"))
    assert found.limit(Tier.PLAIN, 1_000_049) == 1_020_049  # 1,020,049.98
    assert found.limit(Tier.PREFERRED, 1_090_000) == 1_100_053  # the allowance, not 1,111,800
    assert found.limit(Tier.BEYOND, 5) == 5


@pytest.mark.parametrize("paid", [True, False])
def test_a_rented_machine_ranks_at_nothing_while_it_is_paid_for(paid: bool) -> None:
    until = {"paid_until": "2026-09-21T07:00:00Z"} if paid else {}
    rented = machine("m", 1, rate_usd_per_hour="3", **until)
    found = appraisal(offering("a", "1"), asked=wants("r"), machines=[rented])
    assert found.measure.tolist() == [0 if paid else 3_000_000, 1_000_000]


@pytest.mark.parametrize(
    ("second", "share", "inside"),
    [("1.02", "profile", True), ("1.020001", "profile", False),
     ("1.10", "interruptible_prefer", True), ("1.100001", "interruptible_prefer", False)],
)  # fmt: skip
def test_borders_are_exact_to_the_micro_dollar(second: str, share: str, inside: bool) -> None:
    kind = SPOT if share == "interruptible_prefer" else {}
    wish = "prefer" if share == "interruptible_prefer" else "allow"
    found = appraisal(
        offering("a", "1"), offering("b", second, **kind), asked=wants("r", interruptible=wish)
    )
    if share == "profile":
        assert (found.measure[1] <= found.limit(Tier.PLAIN, found.lowest)) == inside
    else:
        assert (found.tier[1] == Tier.PREFERRED) == inside


def test_shares_are_taken_as_they_were_written_and_not_as_floats() -> None:
    # 0.07 x 100 as floats is 7.000000000000001.
    found = appraisal(offering("a"), asked=wants("r"), policy={"bands": {"profile": 0.07}})
    assert found.limit(Tier.PLAIN, 100) == 107
    assert found.limit(Tier.PLAIN, 0) == 0


def test_the_best_comes_first_by_tier_and_then_by_measure() -> None:
    found = appraisal(
        offering("a", "1"), offering("b", "1.05", **SPOT), offering("c", "1.01", **SPOT),
        offering("d", "0.99"), asked=wants("r", interruptible="prefer"),
    )  # fmt: skip
    assert found.order().tolist() == [2, 1, 3, 0]
    assert found.only(found.order()[:2]).measure.tolist() == [1_010_000, 1_050_000]
    assert found.only(found.order()[:2]).lowest == 990_000


def test_a_preferred_host_regrets_what_it_costs_above_the_cheapest() -> None:
    found = appraisal(
        offering("a", "1"), offering("b", "1.05", **SPOT), asked=wants("r", interruptible="prefer")
    )
    assert found.regret.tolist() == [0, 50_000]


def test_speed_beyond_its_limit_regrets_by_the_cheapest_cost_and_not_by_the_fastest() -> None:
    # 1.00 for two hours of waiting, 9.00 at once: 8.00 more than the cheapest.
    late = {"boot_p50_s": 7200, "boot_p90_s": 7200, "warm_s": 0}
    billed_from_ready = {"increment_s": 1, "minimum_s": 0, "starts": "ready"}
    found = appraisal(
        offering("a", "1", startup=late, billing=billed_from_ready), offering("b", "9"),
        asked=wants("r", profile="speed"),
    )  # fmt: skip
    assert found.tier.tolist() == [Tier.PLAIN, Tier.BEYOND]
    assert found.regret.tolist() == [0, 8_000_000]
    assert (found.lowest, found.least) == (10_800, 1_000_000)


def test_limits_come_before_what_is_cheapest() -> None:
    # The cheapest is too late: the band is that of the next.
    late = {"boot_p50_s": 7200, "boot_p90_s": 7200, "warm_s": 0}
    found = appraisal(
        offering("a", "1", startup=late), offering("b", "2"), offering("c", "2.04"),
        asked=wants("r", complete_by="2026-09-21T08:00:00Z"),
    )  # fmt: skip
    assert found.lowest == 2_000_000
    assert found.regret.tolist() == [0, 40_000]


@examples(100)
@given(money_snapshots())
def test_tiers_measures_and_regrets_are_those_of_one_host_at_a_time(snapshot: Snapshot) -> None:
    grid = grid_of(snapshot)
    for own, each in zip(grid.classes, grid.appraisals, strict=True):
        witness = Prices(snapshot, own.runs[0])
        if each is None:
            continue
        told = {
            _place(grid.hosts[host]): (tier, measure, regret)
            for host, tier, measure, regret in zip(
                *(column.tolist() for column in (each.hosts, each.tier, each.measure, each.regret)),
                strict=True,
            )
        }
        assert told == {
            place: (*witness.values[place], witness.regrets[place]) for place in witness.alone
        }


def _place(host: Host) -> Place:
    return Place(
        host.offering.name if host.offering else host.name, bool(host.offering), host.is_warm
    )
