from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.errors import InvalidInput
from stowplan.model.roadmap import ASKS, FACTS, unread
from stowplan.model.snapshot import Snapshot

NOW = "2026-09-21T06:17:37Z"


def refused(**document: Any) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        Snapshot.read({"now": NOW, **document})
    return [str(problem) for problem in caught.value.problems]


def told(**document: Any) -> list[str]:
    return list(unread(Snapshot.read({"now": NOW, **document})))


def test_an_ask_is_refused_by_its_place_and_feature() -> None:
    assert refused(runs=[{"name": "r", "service": {"model": "qwen-7b", "task": "chat"}}]) == [
        "runs[r].service: not supported yet (services); leave it out for now"
    ]


def test_an_ask_that_asks_nothing_is_taken() -> None:
    nothing = {
        "placement": {"interruptible": "allow", "max_cost_usd": None},
        "service": None,
    }
    policy = {"bands": {"profile": 0.02}, "budgets": [], "queue": "strict"}
    fleet = {"machines": [{"name": "m", "rate_usd_per_hour": 0}], "offerings": []}
    Snapshot.read(
        {"now": NOW, "runs": [{"name": "r", **nothing}], "policy": policy, "fleet": fleet}
    )


@pytest.mark.parametrize(
    "field",
    [
        "fleet.machines[m].constraints.power_budget_w",
        "policy.workspaces[w].batch_records_left",
        "policy.workspaces[w].models_permitted",
    ],
)
def test_a_limit_of_nothing_is_a_limit(field: str) -> None:
    none: list[str] | int = [] if field.endswith("permitted") else 0
    *outer, last = field.split(".")[2:]
    limit: dict[str, Any] = {last: none}
    for name in reversed(outer):
        limit = {name: limit}
    documents: dict[str, dict[str, Any]] = {
        "fleet": {"fleet": {"machines": [{"name": "m", **limit}]}},
        "policy": {"policy": {"workspaces": [{"name": "w", **limit}]}},
    }
    (said,) = refused(**documents[field.split(".")[0].split("[")[0]])
    assert said.startswith(f"{field}: not supported yet")


@pytest.mark.parametrize(
    "run",
    [
        {"gpus": {"count": 4}, "machines": 2},
        {"gpus": {"count": 4}, "node_selection": {"names": ["a", "b"]}},
        {"gpus": {"count": 4}, "node_selection": {"mode": "all"}},
        {"gpus": {"count": 4, "policy": "per_node", "min_per_machine": 2}},
        {"topology": {"min_nodes": 2, "max_nodes": 3, "keep_within": "rack", "spread": "node"}},
        {"topology": {"patience_s": 600}, "machines": 2},
        {"network": {"interconnect": "infiniband", "min_gbps": 400}},
    ],
)
def test_a_run_of_several_workers_is_taken_with_all_that_it_asks(run: dict[str, Any]) -> None:
    assert told(runs=[{"name": "r", **run}]) == []


def test_gpus_that_do_not_divide_are_left_to_the_decision() -> None:
    Snapshot.read({"now": NOW, "runs": [{"name": "r", "gpus": {"count": 3}, "machines": 2}]})


def test_facts_that_nothing_reads_are_told_once() -> None:
    machines = [
        {"name": f"m{n}", "mode": "efficiency", "constraints": {"idle_watts": 90}} for n in "ab"
    ]
    assert told(
        fleet={"machines": machines}, knowledge={"cards": [{"model": "L4", "power_w": 72}]}
    ) == [
        "fleet.machines[].mode is not used yet (services)",
        "fleet.machines[].constraints.idle_watts is not used yet (power budgets)",
        "knowledge.cards[].power_w is not used yet (services)",
    ]


def test_the_ports_of_machines_are_read() -> None:
    ports = {"count": 2, "kind": "infiniband", "rate_gbps": 100, "subnet": "ib-0", "state": "down"}
    assert told(fleet={"machines": [{"name": "m", "rdma": ports}]}) == []


def test_what_the_decision_repeats_of_the_knowledge_is_not_called_unused() -> None:
    assert told(knowledge={"hardware_data": "2026-09-hw.3"}) == []


def test_what_costs_money_or_limits_it_is_read() -> None:
    placement = {
        "profile": "cost",
        "complete_by": NOW,
        "max_cost_usd": 0,
        "max_rate_usd_per_hour": 0,
        "interruptible": "require",
        "pool": "lab",
    }
    machine = {"name": "m", "rate_usd_per_hour": 2.5, "paid_until": NOW, "byoc_pool": "lab"}
    offering = {"name": "o", "provider": "acme", "region": "us", "rate_usd_per_hour": 1}
    document = {
        "runs": [{"name": "r", "image_mib": 5, "labels": {"a": "b"}, "placement": placement}],
        "fleet": {"machines": [machine], "offerings": [offering]},
        "policy": {
            "assumed_available": 3,
            "bands": {"profile": 0.5},
            "budgets": [{"name": "b", "workspaces": ["w"], "remaining_usd": 0}],
            "workspaces": [{"name": "w", "balance_usd": 0}],
        },
        "knowledge": {"durations": [{"labels": {}, "family": "hopper", "seconds": []}]},
    }
    assert told(**document) == []


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"policy": {"workspaces": [{"name": "w", "terms": {"model": "ask IT"}}]}},
         "policy.workspaces[].terms.model"),
        ({"fleet": {"machines": [{"name": "m", "rdma": [{"kind": "roce", "rate_gbps": 0,
                                                         "at_risk": True}]}]}},
         "fleet.machines[].rdma[].at_risk"),
    ],
)  # fmt: skip
def test_a_fact_that_nothing_reads_is_told(document: dict[str, Any], field: str) -> None:
    assert [sentence.split(" ")[0] for sentence in told(**document)] == [field]


def test_no_field_is_both_an_ask_and_a_fact() -> None:
    assert not ASKS.keys() & FACTS.keys()
