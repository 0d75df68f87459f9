"""What runs cost on every host: held against one host at a time, and against limits by hand."""

from __future__ import annotations

import datetime as dt
from typing import Any

from hypothesis import given

from stowplan.model.estimating.outlook import outlook, risked
from stowplan.model.estimating.parts import first_start, needs_of
from stowplan.model.estimating.token import token_of
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from stowplan.solver.hosts import Host
from stowplan.solver.money.prices import Priced, Prices, hours, in_dollars
from tests.build import after, card, machine, market, offering, run, snapshot, wants
from tests.money_strategies import money_snapshots
from tests.solver.cycles import ask_in, asked_of
from tests.strategies import examples
from tests.witness.prices import Place
from tests.witness.prices import Prices as Witness

LIMITS = {
    "complete_by": "MISSES_DEADLINE",
    "max_cost": "EXCEEDS_REMAINING_BUDGET",
    "budget": "EXCEEDS_REMAINING_BUDGET",
    "balance": "EXCEEDS_REMAINING_BUDGET",
    "max_rate": "EXCEEDS_MAX_RATE",
    "if_match": "PRICE_ABOVE_ESTIMATE",
}
"""The rules that read money and time, and the code of each."""
ALL_LIMITS = (
    "budgets", "balances", "profiles", "complete_by", "max_cost", "max_rate", "if_match",
)  # fmt: skip


def priced(snapshot: Snapshot, name: str = "r") -> tuple[Priced, dict[str, int]]:
    """Return a run's prices, and the places of the hosts by name."""
    eligibility, requests = asked_of(snapshot)
    found = eligibility.prices.of(ask_in(requests, name))
    assert found is not None
    return found, {host.name: host.place for host in eligibility.hosts}


def place(host: Host) -> Place:
    """Return a host as the witness names it."""
    if host.offering is None:
        return Place(host.name)
    return Place(host.offering.name, True, host.is_warm)


def test_an_instance_that_is_billed_by_the_hour_costs_all_of_them() -> None:
    # Boots in 600 s, runs 3600 s, ends in 60 s: 4260 s, so two hours at 3.00. At worst the boot
    # takes 1200 s and the run 4500 s: 5760 s, two hours as well.
    startup = {"boot_p50_s": 600, "boot_p90_s": 1200, "warm_s": 0}
    billing = {"increment_s": 3600, "minimum_s": 0, "starts": "creation"}
    a = offering("a", "3", startup=startup, billing=billing, teardown_s=60)
    found, at = priced(market(a, runs=[wants("r")]))
    there = at["a"]
    assert found.is_total[there]
    assert (found.cost[there], found.cost_p90[there]) == (6_000_000, 6_000_000)
    assert (found.finish_s[there], found.finish_p90_s[there]) == (4200, 5700)
    assert (found.start_s[there], found.rate[there], found.ranked_rate[there]) == (
        600, 3_000_000, 3_000_000,
    )  # fmt: skip


def test_warm_instances_are_a_host_of_their_own_that_ranks_at_nothing_while_paid() -> None:
    # Paid for half an hour more: of the hour that the run takes, the second half is billed.
    startup = {"boot_p50_s": 600, "boot_p90_s": 600, "warm_s": 0}
    warm = {"count": 1, "paid_until": after(1800)}
    found, at = priced(
        market(offering("a", "2", available=3, warm=warm, startup=startup), runs=[wants("r")])
    )
    cold, idle = at["a"], at["a (warm)"]
    assert (found.rate[cold], found.ranked_rate[cold]) == (2_000_000, 2_000_000)
    assert (found.rate[idle], found.ranked_rate[idle]) == (2_000_000, 0)
    # 4200 s at 2.00 an hour: 2.333334, rounded up.
    assert (found.cost[cold], found.cost[idle]) == (2_333_334, 1_000_000)


def test_failed_starts_make_costs_and_rates_rank_dearer_and_charge_no_more() -> None:
    # 3 of 11 attempts: x 15 / 12, a quarter more.
    starts = {"attempts": 11, "failures": 3}
    found, at = priced(market(offering("a", "2", starts=starts), runs=[wants("r")]))
    there = at["a"]
    assert (found.cost[there], found.risked[there]) == (2_000_000, 2_500_000)
    assert (found.rate[there], found.risked_rate[there]) == (2_000_000, 2_500_000)


def test_the_workers_of_a_run_are_charged_together() -> None:
    rented = [machine(name, rate_usd_per_hour="1.50") for name in "mn"]
    gang = run("r", cpu_cores=1, node_selection={"count": 2}, expected_duration_s=3600)
    found, at = priced(market(runs=[gang], machines=rented))
    assert found.times[at["m"]] == 2
    assert (found.cost[at["m"]], found.all_costs[at["m"]]) == (1_500_000, 3_000_000)


def test_where_nothing_costs_anything_and_no_time_is_set_there_are_no_prices() -> None:
    s = market(runs=[wants("r"), wants("late", complete_by=after(9))], machines=[machine("m", 2)])
    eligibility, requests = asked_of(s)
    assert not eligibility.prices.is_priced
    asks = {each.run.name: each.ask for each in requests.asked}
    assert eligibility.prices.of(asks["r"]) is None
    assert eligibility.prices.of(asks["late"]) is not None


def test_runs_alike_share_what_was_worked_out_once() -> None:
    eligibility, requests = asked_of(
        market(offering("a"), runs=[wants("x"), wants("y"), wants("z", profile="cost")])
    )
    asks = {each.run.name: each.ask for each in requests.asked}
    assert asks["x"] == asks["y"]
    prices = eligibility.prices
    assert prices.of(asks["x"]) is prices.of(asks["y"]) is prices.of(asks["z"])


def test_purses_are_those_of_the_workspace_and_a_budget_may_be_called_as_it_is() -> None:
    policy = {
        "budgets": [
            {"name": "w", "workspaces": ["w", "v"], "remaining_usd": "3"},
            {"name": "far", "workspaces": ["v"], "remaining_usd": "9"},
        ],
        "workspaces": [{"name": "w", "balance_usd": "2.5"}, {"name": "v"}],
    }
    s = market(offering("a"), runs=[wants("r") | {"workspace": "w"}], policy=policy)
    found, _ = priced(s)
    assert found.left == {("budget", "w"): 3_000_000, ("balance", "w"): 2_500_000}
    assert [purse.key for purse in asked_of(s)[0].prices.purses] == [
        ("balance", "w"), ("budget", "far"), ("budget", "w"),
    ]  # fmt: skip
    beside = found.beside({("budget", "w"): 1, ("balance", "w"): 0})
    assert (beside.left[("budget", "w")], found.left[("budget", "w")]) == (1, 3_000_000)


def test_an_estimate_s_rate_has_a_tenth_added_exactly() -> None:
    until = dt.datetime(2026, 9, 21, 7, tzinfo=dt.UTC)
    token = token_of(Run(name="r"), "a", 909_090, until)
    found, _ = priced(market(offering("a"), runs=[wants("r", if_match=token)]))
    assert found.ceiling == 999_999
    own = wants("r", if_match=token, max_rate_usd_per_hour="1")
    found, _ = priced(market(offering("a"), runs=[own]))
    assert found.ceiling is None


def test_a_deadline_that_is_past_leaves_less_than_no_time() -> None:
    found, _ = priced(market(offering("a"), runs=[wants("r", complete_by=after(-61))]))
    assert found.seconds_left == -61


def test_history_tells_families_apart() -> None:
    durations = [
        {"labels": {"job": "a"}, "family": "hopper", "seconds": [1800, 1800, 1800]},
        {"labels": {"job": "a"}, "family": "ada", "seconds": [7200, 7200, 7200]},
    ]
    small = {"model": "NVIDIA L4", "family": "ada", "memory_gb": 24, "count": 1}
    other = {"model": "MI300X", "family": "cdna", "memory_gb": 192, "count": 1}
    s = snapshot(
        [], [run("r", 1, labels={"job": "a"})],
        offerings=[
            offering("fast", "2"), offering("slow", "1", accelerator=small),
            offering("new", "1", accelerator=other),
        ],
    )  # fmt: skip
    s = Snapshot.read(
        s.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        | {"knowledge": {"durations": durations}}
    )
    found, at = priced(s)
    assert [bool(found.is_total[at[name]]) for name in ("fast", "slow", "new")] == [
        True, True, False,
    ]  # fmt: skip
    assert [int(found.seconds[at[name]]) for name in ("fast", "slow", "new")] == [1800, 7200, 3600]
    assert (found.cost[at["fast"]], found.cost[at["slow"]]) == (1_000_000, 2_000_000)
    assert (found.costs(at["fast"]), found.costs(at["new"])) == (
        "is expected to cost", "costs at least",
    )  # fmt: skip


def facts(snapshot: Snapshot) -> tuple[Prices, dict[str, int]]:
    """Return the prices of a snapshot, and the places of the hosts by name."""
    prices = asked_of(snapshot)[0].prices
    return prices, {host.name: host.place for host in prices.hosts}


def test_health_is_the_offering_s_or_the_share_of_a_machine_s_gpus_that_have_it() -> None:
    cards = [card(), card(), card(health="at_risk")]
    prices, at = facts(
        market(
            offering("a", health=0.95),
            runs=[wants("r")],
            machines=[machine("m", cards), machine("bare")],
        )
    )
    told = {name: int(prices.health[place]) for name, place in at.items()}
    assert told == {"a": 950_000, "m": 666_666, "bare": 1_000_000}


def test_a_start_failed_lately_up_to_the_very_second() -> None:
    def failed(seconds: int) -> dict[str, Any]:
        return {"attempts": 5, "failures": 1, "last_failed_at": after(-seconds)}

    prices, at = facts(
        market(
            offering("at", starts=failed(300)), offering("before", starts=failed(301)),
            offering("never"), runs=[wants("r")],
            policy={"bands": {"recent_failure_s": 300}},
        )
    )  # fmt: skip
    told = {name for name, place in at.items() if prices.failed_lately[place]}
    assert told == {"at"}


def test_amounts_are_told_to_the_cent_unless_that_makes_them_look_the_same() -> None:
    assert in_dollars(2_001_000, 1_500_000) == ("2.01", "1.50")
    assert in_dollars(2_000_001, 2_000_000) == ("2.01", "2.00")
    assert in_dollars(1_999_999, 1_999_998) == ("1.999999", "1.999998")


def test_hours_are_never_told_as_nothing() -> None:
    assert [hours(seconds) for seconds in (1, 36, 1800, 3600, 36_000_000)] == [
        "0.01", "0.01", "0.5", "1", "10,000",
    ]  # fmt: skip


@examples(100)
@given(money_snapshots(always=ALL_LIMITS))
def test_the_figures_of_all_hosts_are_those_of_one_at_a_time(snapshot: Snapshot) -> None:
    eligibility, requests = asked_of(snapshot)
    for own, ask in ((each.run, each.ask) for each in requests.asked):
        found = eligibility.prices.of(ask)
        if found is None:
            continue
        witness = Witness(snapshot, own)
        for host in eligibility.hosts:
            quote, at = witness.quotes[place(host)], host.place
            seconds = quote.running.seconds if quote.running else None
            seen = outlook(own, quote.tariff, seconds)
            costs = (found.cost[at], found.cost_p90[at])
            assert costs == tuple(seen.cost)
            assert (found.finish_s[at], found.finish_p90_s[at]) == tuple(seen.finish_s)
            assert (found.rate[at], found.ranked_rate[at]) == (seen.rate, seen.ranked_rate)
            assert found.risked[at] == risked(seen.cost.p50, quote.tariff.starts)
            assert found.risked_rate[at] == risked(seen.ranked_rate, quote.tariff.starts)
            assert found.start_s[at] == first_start(needs_of(own), quote.tariff, 0).seconds
            assert found.is_total[at] == seen.is_total
            assert found.interruptible[at] == quote.is_interruptible


@examples(100)
@given(money_snapshots(always=ALL_LIMITS))
def test_limits_keep_a_run_off_the_hosts_that_break_them_one_by_one(snapshot: Snapshot) -> None:
    eligibility, requests = asked_of(snapshot)
    for own, ask in ((each.run, each.ask) for each in requests.asked):
        found = eligibility.prices.of(ask)
        if found is None:
            continue
        witness = Witness(snapshot, own)
        for host in eligibility.hosts:
            failing = eligibility.of_price(ask, host, found)
            told = {(each.rule.name, each.reason.code.value) for each in failing}
            told -= {("interruptible", "INTERRUPTION_POLICY")}
            assert {code for _, code in told} == set(witness.limits(place(host)))
            assert all(LIMITS[rule] == code for rule, code in told)
