"""The laws that tie a decision where money counts to brute force, to the audit and to itself."""

from __future__ import annotations

import os
from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

import stowplan
from stowplan.model.decision import Decision, PlacedRun
from stowplan.model.snapshot import Snapshot
from tests.build import market, offering, wants
from tests.money_oracle import alone, best_value, is_proven, money_lies, picks, value_of, weights_of
from tests.money_strategies import money_offerings, money_snapshots
from tests.oracle import placed
from tests.strategies import examples
from tests.test_laws import effortless
from tests.variations import document_of, shuffled
from tests.witness.prices import Place, Prices, place_of

LONG = examples(int(os.environ.get("STOWPLAN_FUZZ_EXAMPLES", "20000")), is_long=True)

JOINT = money_snapshots()
LONELY = money_snapshots(max_runs=1, without=("arrays", "quotas"))
BOUGHT = money_snapshots(max_machines=0, max_runs=1, without=("arrays", "quotas"))
TWINS = money_snapshots(max_machines=0, max_offerings=4, always=("classes",), without=("arrays",))

MUST_OCCUR = (
    "MISSES_DEADLINE", "EXCEEDS_REMAINING_BUDGET", "EXCEEDS_MAX_RATE", "PRICE_ABOVE_ESTIMATE",
    "tier 0", "tier 1", "tier 2", "tier 3", "balanced", "cost", "speed",
)  # fmt: skip


def decision_on(snapshot: Snapshot) -> Decision:
    """Return the decision; a test that fails shows the snapshot as it could be written."""
    note(snapshot.model_dump_json(by_alias=True, exclude_defaults=True))
    return stowplan.solve(snapshot)


def hosts_of(snapshot: Snapshot, decision: Decision) -> list[Place | None]:
    return [
        place_of(snapshot, worker.host)
        for outcome in decision.outcomes
        if isinstance(outcome, PlacedRun)
        for worker in outcome.workers
    ]


def agree(snapshot: Snapshot) -> None:
    decision = decision_on(snapshot)
    assert stowplan.audit(snapshot, decision) == ()
    assert value_of(snapshot, decision) == best_value(snapshot)
    assert money_lies(snapshot, decision) == []


def be_where_its_profile_says(snapshot: Snapshot) -> None:
    decision = decision_on(snapshot)
    for run in snapshot.runs:
        if run.state == "pending":
            allowed = alone(snapshot, run.name)
            hosts = hosts_of(snapshot, decision)
            assert set(hosts) <= allowed
            assert bool(hosts) == bool(allowed)


def be_the_one_that_is_picked(snapshot: Snapshot) -> None:
    decision = decision_on(snapshot)
    hosts = hosts_of(snapshot, decision)
    if is_proven(decision):
        assert set(hosts) <= picks(snapshot, snapshot.runs[0].name)


@examples(150)
@given(JOINT)
def test_what_is_placed_is_of_the_best_value_and_told_truly(snapshot: Snapshot) -> None:
    agree(snapshot)


@pytest.mark.long
@LONG
@given(JOINT)
def test_all_witnesses_agree_on_the_value_of_many_snapshots(snapshot: Snapshot) -> None:
    agree(snapshot)


@examples(100)
@given(LONELY)
def test_a_run_alone_is_where_its_profile_says(snapshot: Snapshot) -> None:
    be_where_its_profile_says(snapshot)


@pytest.mark.long
@LONG
@given(LONELY)
def test_a_run_alone_is_where_its_profile_says_on_many_snapshots(snapshot: Snapshot) -> None:
    be_where_its_profile_says(snapshot)


@examples(45)
@given(BOUGHT)
def test_a_run_alone_takes_the_best_offering_of_its_band(snapshot: Snapshot) -> None:
    be_the_one_that_is_picked(snapshot)


@pytest.mark.long
@LONG
@given(BOUGHT)
def test_a_run_alone_takes_the_best_offering_on_many_snapshots(snapshot: Snapshot) -> None:
    be_the_one_that_is_picked(snapshot)


@pytest.mark.long
@LONG
@given(TWINS)
def test_many_runs_alike_agree_with_brute_force(snapshot: Snapshot) -> None:
    agree(snapshot)


@examples(40)
@given(st.data())
def test_identical_runs_spread_over_offerings_as_good(data: st.DataObject) -> None:
    """With enough of each: no offering has two more than another within the band."""
    document = document_of(data.draw(BOUGHT))
    document["policy"]["budgets"], document["policy"]["workspaces"] = [], []
    for each in document["fleet"]["offerings"]:
        if each["available"] != 0:
            each["available"] = 4
        each["warm"], each["starts"] = 0, {}
    count = data.draw(st.integers(2, 4))
    document["runs"] = [{**document["runs"][0], "name": f"r{index}"} for index in range(count)]
    snapshot = Snapshot.read(document)
    allowed = {place.name for place in alone(snapshot, "r0")}
    decision = decision_on(snapshot)
    counts = Counter(place.name for place in hosts_of(snapshot, decision) if place)
    assert sum(counts.values()) == (count if allowed else 0)
    assert counts.keys() <= allowed
    assert len(counts) == min(count, len(allowed))
    assert not allowed or max(counts.values()) - min(counts[name] for name in allowed) <= 1


@examples(45)
@given(st.data())
def test_one_offering_more_never_lowers_what_is_placed(data: st.DataObject) -> None:
    snapshot = data.draw(JOINT)
    document = document_of(snapshot)
    document["fleet"]["offerings"].append(data.draw(money_offerings("new")))
    larger = Snapshot.read(document)
    assert placed_weight(larger) >= placed_weight(snapshot)


@examples(45)
@given(st.data())
def test_more_money_never_lowers_what_is_placed(data: st.DataObject) -> None:
    snapshot = data.draw(money_snapshots(always=("budgets", "balances")))
    document = document_of(snapshot)
    for purse, field in (
        *((each, "remaining_usd") for each in document["policy"]["budgets"]),
        *((each, "balance_usd") for each in document["policy"]["workspaces"]),
    ):
        if purse[field] is not None and data.draw(st.booleans()):
            more = data.draw(st.sampled_from(("1", "0.02", "50")))
            purse[field] = str(Decimal(purse[field]) + Decimal(more))
    assert placed_weight(Snapshot.read(document)) >= placed_weight(snapshot)


@examples(45)
@given(st.data())
def test_a_looser_limit_never_lowers_what_is_placed(data: st.DataObject) -> None:
    snapshot = data.draw(JOINT)
    document = document_of(snapshot)
    for run in document["runs"]:
        for field in ("complete_by", "max_cost_usd", "if_match"):
            if data.draw(st.booleans()):
                run["placement"][field] = None
        if run["placement"]["if_match"] is None and data.draw(st.booleans()):
            run["placement"]["max_rate_usd_per_hour"] = None  # else the estimate's rate would bind
    assert placed_weight(Snapshot.read(document)) >= placed_weight(snapshot)


@examples(45)
@given(st.data())
def test_the_order_of_lists_changes_nothing(data: st.DataObject) -> None:
    snapshot = data.draw(JOINT)
    document = document_of(data.draw(shuffled(snapshot)))
    fleet, policy = document["fleet"], document["policy"]
    fleet["offerings"] = data.draw(st.permutations(fleet["offerings"]))
    policy["budgets"] = data.draw(st.permutations(policy["budgets"]))
    knowledge = document["knowledge"]
    knowledge["durations"] = data.draw(st.permutations(knowledge["durations"]))
    decision = decision_on(snapshot)
    assert effortless(decision_on(Snapshot.read(document))) == effortless(decision)


@examples(40)
@given(JOINT)
def test_solving_twice_decides_the_same(snapshot: Snapshot) -> None:
    assert effortless(stowplan.solve(snapshot)) == effortless(stowplan.solve(snapshot))


@examples(40)
@given(JOINT)
def test_a_decision_survives_json_exactly(snapshot: Snapshot) -> None:
    decision = stowplan.solve(snapshot)
    assert Decision.model_validate_json(decision.model_dump_json()) == decision


@examples(45)
@given(st.data())
def test_a_host_that_nobody_may_use_changes_no_value(data: st.DataObject) -> None:
    """An offering that is sold out, and has no history to be missed, is as good as none."""
    snapshot = data.draw(money_snapshots(without=("unknown", "history")))
    document = document_of(snapshot)
    gone = data.draw(money_offerings("gone")) | {"available": 0, "warm": 0}
    document["fleet"]["offerings"].append(gone)
    other = Snapshot.read(document)
    assume(best_value(snapshot) == best_value(other))
    assert value_of(other, decision_on(other)) == value_of(snapshot, decision_on(snapshot))


def test_the_snapshots_have_something_to_decide() -> None:
    seen: Counter[str] = Counter()

    @examples(500)
    @given(JOINT)
    def look(snapshot: Snapshot) -> None:
        prices = [Prices(snapshot, run) for run in snapshot.runs if run.state == "pending"]
        for each in prices:
            offered = {place.name for place in each.alone if place.is_offering}
            limits = {code for place in each.takers for code in each.limits(place)}
            seen.update(limits)
            seen.update(f"tier {value.tier}" for value in set(each.values.values()))
            seen[each.profile] += 1
            seen["by rate, whatever it asks"] += each.is_by_rate and each.profile != "balanced"
            seen["a choice of offerings"] += len(offered) > 1
        score = best_value(snapshot)
        seen["something is placed"] += any(score.weights)
        seen["somebody regrets"] += score.regret > 0
        seen["they compete"] += sum(bool(each.alone) for each in prices) > 1 and score.regret > 0
        seen["a pool is used"] += score.wishes[0] > 0
        seen["a preferred host is used"] += score.wishes[1] > score.wishes[0]

    look()
    told = dict(sorted(seen.items()))
    rare = {what for what in (*MUST_OCCUR, *seen) if not seen[what]}
    assert not rare, told
    assert seen["something is placed"] > 200, told
    assert seen["somebody regrets"] > 20, told
    assert seen["a choice of offerings"] > 60, told


def test_speed_never_waits_for_a_host_that_is_cheap_enough() -> None:
    runs = [wants(name, profile="speed") for name in "rs"]
    fleet = market(offering("a"), offering("b", "2.5"), runs=runs)
    decision = stowplan.solve(fleet)
    assert placed(decision) == {"r": 1, "s": 1}
    assert money_lies(fleet, decision) == []


@pytest.mark.parametrize(("wishing", "other"), [("a", "b"), ("b", "a")])
def test_of_runs_of_equal_weight_the_one_that_has_its_wish_is_placed(
    wishing: str, other: str
) -> None:
    spot = offering("spot", interruptible=True, reclaims={"per_hour": 0})
    runs = [wants(wishing, interruptible="prefer"), wants(other)]
    decision = stowplan.solve(market(spot, runs=runs))
    assert placed(decision) == {wishing: 1}


def placed_weight(snapshot: Snapshot) -> tuple[int, ...]:
    return weights_of(snapshot, decision_on(snapshot))
