"""What one run would cost on every host, as it is ranked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

import stowplan
from stowplan.model.decision import PlacedRun
from stowplan.model.reasons import Code, Reason
from stowplan.model.snapshot import Snapshot
from stowplan.solver.money.profiles import FAILED, OWN
from stowplan.solver.pricing import Market, Ranking, ranked
from tests.build import machine, market, offering, run, running, wants
from tests.money_strategies import money_snapshots
from tests.solver.cycles import places
from tests.strategies import examples


def ranking(snapshot: Snapshot, name: str = "r") -> Ranking:
    found = ranked(snapshot, name)
    assert isinstance(found, Ranking)
    return found


def names(found: Ranking) -> list[str]:
    return [host.name for host in found.hosts]


def test_hosts_within_the_band_come_first_by_what_the_profile_prefers_then_the_others() -> None:
    s = market(
        offering("cheap", "1.00", health=0.5),
        offering("sound", "1.01", health=0.9),
        offering("dear", "1.03", health=1),
        offering("dearer", "1.50"),
        runs=[wants("r")],
    )
    found = ranking(s)
    assert names(found) == ["sound", "cheap", "dear", "dearer"]
    assert [host.is_as_good for host in found.hosts] == [True, True, False, False]


def test_figures_are_those_of_the_estimate() -> None:
    found = ranking(market(offering("a", "2.00"), runs=[wants("r")]))
    (host,) = found.hosts
    assert (host.rate, host.cost, host.finish_s) == (
        2_000_000,
        (2_000_000, 2_500_000),
        (3600, 4500),
    )
    told = found.estimate("a")
    assert told.cost_usd
    assert (told.cost_usd.p50, told.cost_usd.p90) == ("2", "2.5")


def test_all_others_say_why_not() -> None:
    s = market(
        offering("gone", available=0),
        offering("dear", "9"),
        offering("fits"),
        runs=[wants("r", max_rate_usd_per_hour="5")],
        machines=[machine("busy", 1)],
    )
    full = Snapshot.read(
        {**s.model_dump(mode="json", by_alias=True, exclude_defaults=True),
         "runs": [wants("r", max_rate_usd_per_hour="5"), running("old", ("busy", 1))]}
    )  # fmt: skip
    found = ranking(full)
    assert names(found) == ["fits"]
    said = {host: row.reasons[0].code for row in found.out for host in row.hosts}
    assert said == {
        "busy": Code.INSUFFICIENT_GPUS,
        "gone": Code.NO_CAPACITY_NOW,
        "dear": Code.EXCEEDS_MAX_RATE,
    }
    assert [reason.code for reason in found.reasons("dear")] == [Code.EXCEEDS_MAX_RATE]
    assert found.reasons("fits") == ()


def test_an_impossible_shape_is_a_reason() -> None:
    s = market(offering("a"), runs=[run("r", {"count": 3}, machines=2)])
    found = ranked(s, "r")
    assert isinstance(found, Reason)
    assert found.code == Code.UNEVEN_SHAPE


def test_a_market_is_read_once_and_asked_for_any_run() -> None:
    s = market(offering("a"), offering("b", "3"), runs=[wants("r"), wants("q", profile="cost")])
    found = Market(s)
    for each in s.runs:
        of_one = found.ranked(each)
        assert isinstance(of_one, Ranking)
        assert names(of_one) == ["a", "b"]


OFFERED: dict[str, Any] = {"max_machines": 0, "max_runs": 1, "without": ("arrays", "quotas")}


@examples(80)
@given(money_snapshots(**OFFERED))
def test_the_best_is_what_a_cycle_chooses_for_it_alone_or_as_good(snapshot: Snapshot) -> None:
    for each in snapshot.runs:
        found = ranked(snapshot, each.name)
        if not isinstance(found, Ranking):
            continue
        (outcome,) = stowplan.solve(snapshot).outcomes
        as_good = {host.name for host in found.hosts if host.is_as_good}
        if isinstance(outcome, PlacedRun):
            of = {name.removesuffix(" (warm)") for name in as_good}
            assert outcome.workers[0].host.rpartition("#")[0] in of
        else:
            assert not found.hosts


@examples(80)
@given(money_snapshots())
def test_every_host_is_told_of_once(snapshot: Snapshot) -> None:
    for each in snapshot.runs:
        found = ranked(snapshot, each.name)
        if isinstance(found, Ranking):
            out = [host for row in found.out for host in row.hosts]
            listed = [host.name for host in found.market.eligibility.listed(found.ask)]
            assert sorted([*names(found), *out]) == sorted(listed)


def standing(found: Ranking, name: str) -> tuple[int, ...]:
    """Return what orders a host within the band, before its measure: the less the better."""
    each, prices = found.appraisal, found.market.eligibility.prices
    assert each is not None
    place = found.market.named[name].place
    return tuple(
        int(own.by_host(prices, found.ask, found.priced)[place]) * (-1 if own.maximise else 1)
        for own in (FAILED, *OWN)
        if each.profile in own.profiles
    )


@examples(80)
@given(money_snapshots(max_machines=0, max_offerings=6, max_runs=1, without=("arrays", "quotas")))
def test_no_host_stands_before_the_one_that_a_cycle_chooses(snapshot: Snapshot) -> None:
    for each in snapshot.runs:
        found = ranked(snapshot, each.name)
        (outcome,) = stowplan.solve(snapshot).outcomes
        assert isinstance(found, Ranking)
        if not isinstance(outcome, PlacedRun):
            assert names(found) == []
            continue
        hosts = found.market.eligibility.hosts
        (chosen,) = (host for host in hosts if outcome.workers[0].host in host.instances)
        best = found.hosts[0]
        assert standing(found, chosen.name) == standing(found, best.name)


@examples(80)
@given(money_snapshots())
def test_every_host_takes_the_run_or_says_why_not_just_once(snapshot: Snapshot) -> None:
    for each in snapshot.runs:
        found = ranked(snapshot, each.name) if each.state == "pending" else None
        if not isinstance(found, Ranking):
            continue
        out = [host for row in found.out for host in row.hosts]
        listed = [host.name for host in found.market.eligibility.listed(found.ask)]
        assert sorted(out + names(found)) == sorted(listed)
        assert all(found.reasons(host) for host in out)
        assert not any(found.reasons(host) for host in names(found))


def test_the_band_of_the_best_ends_at_two_per_cent_exactly() -> None:
    found = ranking(market(
        offering("a", "1"), offering("b", "1.02"), offering("c", "1.020001"), runs=[wants("r")],
    ))  # fmt: skip
    assert [host.is_as_good for host in found.hosts] == [True, True, False]


def test_warm_and_new_instances_are_ranked_apart() -> None:
    slow = {"boot_p50_s": 600, "boot_p90_s": 600, "warm_s": 0}
    s = market(offering("a", "1", available=2, warm=1, startup=slow), runs=[wants("r")])
    found = ranking(s)
    assert names(found) == ["a (warm)", "a"]
    assert [host.finish_s.p50 for host in found.hosts] == [3600, 4200]


def test_a_host_that_there_is_not_is_a_key_error() -> None:
    found = ranking(market(offering("a"), runs=[wants("r")]))
    with pytest.raises(KeyError):
        found.estimate("b")
    with pytest.raises(KeyError):
        ranked(market(offering("a"), runs=[wants("r")]), "nobody")


@pytest.mark.parametrize("profile", ["balanced", "cost"])
def test_of_hosts_within_the_band_that_are_alike_the_first_in_the_ranking_is_taken(
    profile: str,
) -> None:
    for name in ("r0", "r1", "r2", "r3"):
        s = market(
            offering("a", "1.00"), offering("b", "1.02"), runs=[wants(name, profile=profile)]
        )
        assert names(ranking(s, name)) == ["a", "b"]
        assert places(s) == {name: ["a#1"]}


@examples(80)
@given(money_snapshots(max_runs=1, max_offerings=5, without=("arrays", "quotas")))
def test_where_a_run_is_placed_its_estimate_is_that_of_the_ranking(snapshot: Snapshot) -> None:
    decision = stowplan.solve(snapshot)
    for each in snapshot.runs:
        (outcome,) = (own for own in decision.outcomes if own.run == each.name)
        if not isinstance(outcome, PlacedRun):
            continue
        found = ranking(snapshot, each.name)
        name = outcome.workers[0].host
        (chosen,) = (
            host
            for host in found.market.eligibility.hosts
            if name in (host.instances if host.offering else (host.name,))
        )
        (row,) = (host for host in found.hosts if host.name == chosen.name)
        assert row.is_as_good
        if outcome.estimate:
            assert found.estimate(chosen.name) == outcome.estimate


def test_without_a_running_time_the_ranking_says_so_of_purses_as_the_decision_does() -> None:
    policy = {"workspaces": [{"name": "default", "balance_usd": "1"}]}
    s = market(offering("a"), runs=[run("r", 1)], policy=policy)
    (outcome,) = stowplan.solve(s).outcomes
    assert isinstance(outcome, PlacedRun)
    assert outcome.estimate
    assert outcome.estimate.unverified[-1] == "default: held against what is sure to be charged"
    assert ranking(s).estimate("a").unverified == outcome.estimate.unverified
