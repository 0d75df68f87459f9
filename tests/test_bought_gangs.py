"""Decisions on runs of several workers beside the witness that tries every set of instances."""

from __future__ import annotations

import datetime as dt
import itertools
from collections import Counter
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

import stowplan
from stowplan.model.audit import audit
from stowplan.model.decision import PlacedRun
from stowplan.model.estimating.gang import Node, bound_of_assembly, gang_outlook
from stowplan.model.estimating.gang_estimate import gang_estimate
from stowplan.model.instances import instances_of
from stowplan.model.knowledge import Knowledge
from stowplan.model.runs import Gpus, Placement, Run, Topology
from stowplan.model.snapshot import Snapshot
from tests.bought_gang_oracle import (
    Chosen,
    best_of,
    items_of,
    preferred,
    priced_together,
    sets_of,
)
from tests.build import Document, after, machine, offering, snapshot
from tests.strategies import examples


@st.composite
def catalogs(draw: st.DrawFn, machines: bool = False, runs: int = 1) -> Snapshot:
    """Return a few offerings, and runs that may be cut over several of them."""

    def one[T](*values: T) -> T:
        return draw(st.sampled_from(values))

    def offered(name: str) -> Document:
        boot = one(0, 0, 300, 900)
        stops = one(False, False, True)
        network = one(None, "v", "v", "w")
        paths = one(["private"], ["direct"], ["private", "direct"], ["relay"], [])
        family = one("hopper", "hopper", "ada")
        shown: Document = offering(name, one("1", "1.01", "1.5", "2", "3"), one(1, 2, 4)) | {
            "provider": one("acme", "acme", "emca"),
            "location": one("x", "x", "x", "y", None),
            "region_class": one("us", "us", "eu", None),
            "network": network and {"id": network, "paths": paths},
            "interruptible": stops,
            "reclaims": one({"per_hour": one(0.1, 0.5, 2)}, None) if stops else None,
            "available": one(0, 1, 2, 3),
            "warm": one(0, 0, {"count": 1, "paid_until": after(one(1800, 7200))}, 1),
            "billing": {
                "increment_s": one(1, 60, 3600),
                "minimum_s": one(0, 0, 7200),
                "starts": one("creation", "ready"),
            },
            "startup": {"boot_p50_s": boot, "boot_p90_s": boot + one(0, 600), "warm_s": 10},
            "teardown_s": one(0, 60),
            "starts": one({}, {"attempts": 4, "failures": one(1, 3), "last_failed_at": after(-60)}),
            "health": one(1, 1, 0.9),
        }
        shown["accelerator"]["family"] = family
        return shown

    def asked(name: str) -> Document:
        limits: list[Document] = [
            {},
            {},
            {"max_cost_usd": one("3", "6", "9")},
            {"max_rate_usd_per_hour": one("2", "3", "4.5")},
            {"complete_by": after(one(5000, 9000))},
            {"interruptible": one("never", "prefer", "require")},
            {"pool": "mine"},
        ]
        shape: Document = one(
            {}, {"machines": 2}, {"topology": {"max_nodes": 3}}, {"machines": 3}, {"machines": 4}
        )
        count = 3 if shape.get("machines") == 3 else one(4, 4, 8)
        network = {"scope": one("colocated", "regional", "regional", "global")}
        network |= {"transport": one("auto", "auto", "direct")}
        time = {"expected_duration_s": one(3600, 1800, 7200)} if one(1, 1, 1, 0) else {}
        return (
            {"name": name, "gpus": {"count": count}, "network": network}
            | shape
            | time
            | ({"labels": {"job": "x"}} if has_history else {})
            | {"placement": one(*limits) | {"profile": one("balanced", "cost", "speed")}}
            | one({}, {"image_mib": 20_000})
            | one({}, {"checkpoint": {"interval_s": 600, "size_mib": 6000, "saves": one(None, 2)}})
        )

    has_history = one(False, False, True)
    owned = [
        machine(f"m{number}", one(1, 2))
        | {"labels": {"topology/site": "s"}, "rate_usd_per_hour": one("0", "1", "2.5")}
        | one({}, {}, {"byoc_pool": "mine"})
        for number in range(one(0, 1, 2, 3) if machines else 0)
    ]
    budget = {"name": "b", "workspaces": ["default"], "remaining_usd": one("5", "9")}
    found = snapshot(
        owned,
        [asked(f"r{number}") for number in range(runs)],
        offerings=[offered(f"o{number}") for number in range(one(1, 2, 2, 3, 3))],
        policy={"budgets": [budget]} if one(0, 0, 1) else {},
    )
    if not has_history:
        return found
    past = [
        {"labels": {"job": "x"}, "family": family, "seconds": [seconds] * 3}
        for family, seconds in one((("hopper", 1800), ("ada", 5400)), (("hopper", 3600),))
    ]
    cards = [{"model": "NVIDIA H100 80GB HBM3", "family": "hopper"}]
    known = Knowledge.model_validate({"durations": past, "cards": cards})
    return found.model_copy(update={"knowledge": known})


@st.composite
def cycles(draw: st.DrawFn) -> Snapshot:
    """Return offerings and machines, and runs of one worker and of several, some of them alike."""
    found = draw(catalogs(machines=True, runs=draw(st.integers(1, 2))))
    runs: list[Run] = []
    for number, each in enumerate(found.runs):
        for copy in range(draw(st.sampled_from((1, 1, 2, 3)))):
            waited = draw(st.sampled_from((0, 60)))
            runs.append(
                each.model_copy(
                    update={
                        "name": f"g{number}-{copy}",
                        "submitted_at": found.now - dt.timedelta(seconds=waited),
                    }
                )
            )
    single = Gpus(count=1)
    for number in range(draw(st.integers(0, 3))):
        own = found.runs[0].model_copy(
            update={"name": f"s{number}", "gpus": single, "machines": None, "topology": Topology()}
        )
        runs.append(own)
    queue = draw(st.sampled_from(("throughput", "throughput", "strict")))
    policy = found.policy.model_copy(update={"queue": queue})
    return found.model_copy(update={"runs": tuple(runs), "policy": policy})


@examples(100)
@given(cycles())
def test_cycles_with_several_runs_are_lawful(s: Snapshot) -> None:
    decision = stowplan.solve(s)
    assert audit(s, decision) == ()
    for each in decision.outcomes:  # what waits could be told why
        assert each.outcome == "placed" or each.reason is not None


def chosen_in(s: Snapshot, outcome: PlacedRun) -> Chosen:
    """Return the set of hosts that a decision chose, priced by the witness."""
    [asked] = [each for each in s.runs if each.name == outcome.run]
    named = {item.name: item for item in items_of(s, asked)}
    items = [named[worker.host] for worker in outcome.workers]
    return priced_together(asked, items, outcome.shape.gpus_each)


@examples(125)
@given(catalogs(machines=True))
def test_a_run_alone_gets_the_best_of_all_its_sets(s: Snapshot) -> None:
    decision = stowplan.solve(s)
    assert audit(s, decision) == ()
    [asked], [outcome] = s.runs, decision.outcomes
    best = best_of(s, asked)
    if best is None:
        assert outcome.outcome == "waiting"
        return
    assert isinstance(outcome, PlacedRun), outcome
    chosen = chosen_in(s, outcome)
    assert best.within(s, asked, chosen)
    told = outcome.value
    if told is not None:
        unit = 1 if told.measure == "finish_s" else 10**6
        if best.tier_of(s, asked, chosen) == best.tier:
            assert told.reference * unit == best.reference
        assert told.chosen * unit == best.measured(s, asked, chosen)
    if not s.fleet.machines:
        within = [each for each in best.sets if best.within(s, asked, each)]
        least = min(preferred(s, asked, each) for each in within)
        assert preferred(s, asked, chosen) == least


@examples(75)
@given(catalogs(machines=True))
def test_an_estimate_of_several_is_as_the_witness_prices_them(s: Snapshot) -> None:
    asked = s.runs[0]
    for chosen in sets_of(s, asked)[:40]:
        nodes = [Node(item.tariff, item.running) for item in chosen.items]
        told = gang_outlook(asked, nodes)
        assert told.seen.is_total == chosen.is_total
        assert [cost.p50 for cost in told.costs] == list(chosen.costs)
        assert (told.start_s.p50, told.seen.finish_s.p50) == (chosen.start_s, chosen.finish_s)
        assert told.seen.finish_s.p90 == chosen.finish_p90_s
        shown = gang_estimate(asked, nodes, s.now)
        if shown.cost_usd is not None:
            assert sum(line.usd for line in shown.breakdown) == Decimal(shown.cost_usd.p50)
            worst = sum(line.usd_p90 or Decimal(0) for line in shown.breakdown)
            assert worst == Decimal(shown.cost_usd.p90)
        assert shown.assembly_bound_usd * 10**6 == bound_of_assembly(nodes)


@examples(60)
@given(catalogs(runs=2))
def test_two_runs_together_are_left_the_least_regret(s: Snapshot) -> None:
    # By the rate, without limits that would order them otherwise.
    plain = [
        each.model_copy(update={"placement": Placement(profile="balanced")}) for each in s.runs
    ]
    s = s.model_copy(update={"runs": tuple(plain)})
    decision = stowplan.solve(s)
    assert audit(s, decision) == ()
    both = [(each, best_of(s, each)) for each in s.runs]
    open_to = [list(best.sets) if best else [] for _, best in both]
    left = [budget.remaining_usd * 10**6 for budget in s.policy.budgets]
    most, least = 0, 0
    for pair in itertools.product(*([None, *own] for own in open_to)):
        placed = [each for each in pair if each is not None]
        taken = Counter(
            (item.host.name, item.tariff.is_running) for each in placed for item in each.items
        )
        if any(count > _there(s, *key) for key, count in taken.items()):
            continue
        if any(sum(each.cost for each in placed) > amount for amount in left):
            continue
        weight = sum(
            own.gpus.count for (own, _), each in zip(both, pair, strict=True) if each is not None
        )
        worse = sum(
            each.ranked_rate - best.lowest
            for (_, best), each in zip(both, pair, strict=True)
            if each is not None and best is not None
        )
        most, least = min((most, least), (-weight, worse))
    outcomes = [each for each in decision.outcomes if isinstance(each, PlacedRun)]
    assert sum(each.shape.tasks * each.shape.gpus_each for each in outcomes) == -most
    lowest = {own.name: best.lowest for own, best in both if best}
    hours = {_hours(each) for each in s.runs}
    if len(hours) == 1 and not s.knowledge.durations:  # regrets are by the hour, as long as it runs
        regret = sum(
            (each.value.reference * 10**6 if each.value else 0) - lowest[each.run]
            for each in outcomes
        )
        assert regret == least


def _there(s: Snapshot, name: str, is_warm: bool) -> int:
    [own] = [each for each in s.fleet.offerings if each.name == name]
    there = instances_of(own, s.policy)
    return there.warm if is_warm else there.cold


def _hours(each: Run) -> int:
    return each.expected_duration_s or 3600
