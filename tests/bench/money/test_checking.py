"""What no answer may do is found, whoever gave it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from stowplan.model.snapshot import Snapshot
from tests.bench.money.checking import check, seen, wrong

NOW = "2026-07-20T00:00:00Z"
GIB = 2**30


def snapshot(
    run: Mapping[str, Any], policy: Mapping[str, Any] | None = None, **sold: Any
) -> Snapshot:
    """Return two runs alike and one offering, which asks a tenth of a cent a second.

    An hour of work; boot and teardown are 100 s each.
    """
    offering = {
        "name": "host",
        "provider": "acme",
        "region": "here",
        "accelerator": {"model": "L4", "memory_gb": 24, "count": 2},
        "cpu_cores": 8,
        "memory_bytes": 32 * GIB,
        "rate_usd_per_hour": "3.60",
        "available": 2,
        "billing": {"increment_s": 1, "minimum_s": 0, "starts": "creation"},
        "startup": {"boot_p50_s": 100, "boot_p90_s": 400},
        "teardown_s": 100,
    }
    asked = {"workspace": "team", "expected_duration_s": 3600, "machines": 1, "gpus": {"count": 1}}
    return Snapshot.read(
        {
            "now": NOW,
            "fleet": {"offerings": [offering | sold]},
            "runs": [{"name": name, **asked, **run} for name in ("one", "two")],
            "policy": policy or {},
        }
    )


def placing(**limits: Any) -> dict[str, Any]:
    return {"placement": limits}


def budget(usd: str) -> dict[str, Any]:
    return {"budgets": [{"name": "shared", "workspaces": ["team"], "remaining_usd": usd}]}


def test_a_run_costs_its_start_its_work_and_its_end() -> None:
    found = seen(snapshot({}).runs[0], snapshot({}).fleet.offerings[0], snapshot({}))
    assert found.cost.p50 == 3_800_000  # 100 + 3600 + 100 s
    assert found.finish_s.p90 == 400 + 4500


type Document = dict[str, Any]  # Any: what a document holds

# Each at its border: 3.80 USD, 4900 s at worst, 3.60 USD an hour.
KEPT: list[tuple[Document, Document, Document]] = [
    (placing(max_cost_usd="3.80"), {}, {}),
    (placing(complete_by="2026-07-20T01:21:40Z"), {}, {}),
    (placing(max_rate_usd_per_hour="3.60"), {}, {}),
    (placing(interruptible="never"), {}, {}),
    ({"gpus": {"count": 2, "models": ["l4"], "min_memory_gb": 24}}, {}, {}),
    ({"per_gpu": {"cpu_cores": 4, "memory_bytes": 16 * GIB}, "gpus": {"count": 2}}, {}, {}),
    ({}, budget("7.60"), {}),
    ({}, {"workspaces": [{"name": "team", "balance_usd": "7.60"}]}, {}),
]

BROKEN: list[tuple[Document, Document, Document, str]] = [
    (placing(max_cost_usd="3.799999"), {}, {}, "costs too much"),
    (placing(complete_by="2026-07-20T01:21:39Z"), {}, {}, "ends too late"),
    (placing(max_rate_usd_per_hour="3.59"), {}, {}, "asks too much an hour"),
    (placing(interruptible="never"), {}, {"interruptible": True}, "interruptible: never"),
    (placing(interruptible="require"), {}, {}, "interruptible: require"),
    ({"gpus": {"count": 3}}, {}, {}, "too few GPUs"),
    ({"gpus": {"count": 1, "models": ["L40"]}}, {}, {}, "another model"),
    ({"gpus": {"count": 1, "min_memory_gb": 24.5}}, {}, {}, "too little memory on a GPU"),
    ({"cpu_cores": 8.001}, {}, {}, "too few cores"),
    ({"memory_bytes": 32 * GIB + 1}, {}, {}, "too little memory"),
    ({}, budget("7.599999"), {}, "shared: 7.6 of 7.599999 USD"),
    ({}, {"workspaces": [{"name": "team", "balance_usd": "7"}]}, {}, "team: 7.6 of 7 USD"),
    ({}, {}, {"available": 1}, "host: 2 taken, 1 available"),
    ({}, {}, {"available": None}, "host: 2 taken, 1 available"),
]


@pytest.mark.parametrize(("run", "policy", "sold"), KEPT)
def test_what_keeps_to_its_limits_is_an_answer(
    run: dict[str, Any], policy: dict[str, Any], sold: dict[str, Any]
) -> None:
    check(snapshot(run, policy, **sold), {"one": "host", "two": "host"})


@pytest.mark.parametrize(("run", "policy", "sold", "told"), BROKEN)
def test_what_does_not_is_none(
    run: dict[str, Any], policy: dict[str, Any], sold: dict[str, Any], told: str
) -> None:
    found = list(wrong(snapshot(run, policy, **sold), {"one": "host", "two": "host"}))
    assert found
    assert all(each.endswith(told) for each in found)


def test_a_single_run_is_held_against_its_budget_alone() -> None:
    tight = snapshot({}, budget("4"))
    assert tight.policy.budgets[0].remaining_usd == Decimal(4)
    check(tight, {"one": "host"})
    with pytest.raises(AssertionError, match=r"shared: 7\.6 of 4 USD"):
        check(tight, {"one": "host", "two": "host"})
