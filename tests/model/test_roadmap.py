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


def test_an_ask_is_refused_by_its_place_and_feature() -> None:
    assert refused(runs=[{"name": "r", "topology": {"keep_within": "rack"}}]) == [
        "runs[r].topology: not supported yet (gangs across machines); leave it out for now"
    ]


def test_an_ask_that_asks_nothing_is_taken() -> None:
    nothing = {
        "topology": {"keep_within": None, "patience_s": 0},
        "network": {},
        "placement": {"interruptible": "allow", "max_cost_usd": None},
        "service": None,
    }
    policy = {"bands": {"profile": 0.02}, "budgets": [], "queue": "strict"}
    fleet = {"machines": [{"name": "m", "rate_usd_per_hour": 0}], "offerings": []}
    Snapshot.read(
        {"now": NOW, "runs": [{"name": "r", **nothing}], "policy": policy, "fleet": fleet}
    )


@pytest.mark.parametrize(
    "run",
    [
        {"gpus": {"count": 4}, "machines": 2},
        {"gpus": {"count": 4}, "node_selection": {"names": ["a", "b"]}},
        {"gpus": {"count": 4}, "node_selection": {"mode": "all"}},
    ],
)
def test_gpus_on_several_machines_are_refused(run: dict[str, Any]) -> None:
    (said,) = refused(runs=[{"name": "r", **run}])
    assert "gangs across machines" in said


def test_gpus_that_do_not_divide_are_left_to_the_decision() -> None:
    Snapshot.read({"now": NOW, "runs": [{"name": "r", "gpus": {"count": 3}, "machines": 2}]})


def test_facts_that_nothing_reads_are_told_once() -> None:
    runs = [{"name": str(n), "image_mib": 5, "labels": {"a": "b"}} for n in range(3)]
    knowledge = {"cards": [{"model": "L4"}]}
    whole = Snapshot.read({"now": NOW, "runs": runs, "knowledge": knowledge})
    assert list(unread(whole)) == [
        "runs[].labels is not used yet (estimates)",
        "runs[].image_mib is not used yet (estimates)",
        "knowledge is not used yet (estimates and services)",
    ]


def test_no_field_is_both_an_ask_and_a_fact() -> None:
    assert not ASKS.keys() & FACTS.keys()
