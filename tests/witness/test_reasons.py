"""What a host must say, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.snapshot import Snapshot
from stowplan.solver.cycle import solve
from tests.build import card, machine, run, running, snapshot
from tests.oracle import lies
from tests.witness.asked import run_named
from tests.witness.machines import machine_named, rooms
from tests.witness.reasons import reasons

RISKY, BROKEN, L4 = card(health="at_risk"), card(health="faulted"), card(model="NVIDIA L4")


def said(fleet: Snapshot) -> dict[str, dict[str, Any]]:
    """Return what m says of run r: code -> numbers, in order."""
    told = reasons(fleet, machine_named(fleet, "m"), run_named(fleet, "r"), rooms(fleet)["m"])
    return {each.code: dict(each.numbers) for each in told}


def fleet_of(
    cards: list[dict[str, Any]], gpus: dict[str, Any], denied: tuple[int, ...] = ()
) -> Snapshot:
    constraints = {"denied_devices": [f"m/{index}" for index in denied]}
    return snapshot([machine("m", cards, constraints=constraints)], [run("r", gpus)])


SCARCE: list[tuple[list[dict[str, Any]], tuple[int, ...], dict[str, Any], dict[str, Any]]] = [
    ([], (), {"count": 1}, {"NO_MATCHING_GPU": {"need": 1}}),
    ([card()], (), {"count": 2}, {"INSUFFICIENT_GPUS": {"need": 2, "free": 1, "whole": 1}}),
    (
        [card(), L4],
        (),
        {"count": 2, "models": ["h100"]},
        {"INSUFFICIENT_GPUS": {"need": 2, "free": 1, "whole": 1}},
    ),
    ([card(), BROKEN], (), {"count": 2}, {"GPU_FAULTED": {"need": 2, "free": 1, "faulted": 1}}),
    ([card(), card()], (1,), {"count": 2}, {"GPU_DENIED": {"need": 2, "free": 1, "denied": 1}}),
    (  # a faulted one is broken, withheld or not
        [card(), BROKEN],
        (1,),
        {"count": 2},
        {"INSUFFICIENT_GPUS": {"need": 2, "free": 1, "whole": 2}},
    ),
    (  # what is broken goes before what is withheld
        [card(), BROKEN, card()],
        (2,),
        {"count": 2},
        {"GPU_FAULTED": {"need": 2, "free": 1, "faulted": 1}},
    ),
    (
        [card(), RISKY],
        (),
        {"count": 2, "healthy_only": True},
        {"INSUFFICIENT_HEALTHY_GPUS": {"need": 2, "healthy_free": 1, "at_risk_free": 1}},
    ),
    (  # withheld and at risk: the run couldn't have it either way
        [card(), RISKY],
        (1,),
        {"count": 2, "healthy_only": True},
        {"INSUFFICIENT_HEALTHY_GPUS": {"need": 2, "healthy_free": 1, "at_risk_free": 0}},
    ),
    (  # either would have made it enough
        [card(), card(), RISKY],
        (1,),
        {"count": 2, "healthy_only": True},
        {
            "GPU_DENIED": {"need": 2, "free": 1, "denied": 1},
            "INSUFFICIENT_HEALTHY_GPUS": {"need": 2, "healthy_free": 1, "at_risk_free": 1},
        },
    ),
    (
        [L4],
        (),
        {"count": 1, "models": ["H100"]},
        {"NO_MATCHING_GPU": {"asked": "model h100", "has": ("NVIDIA L4",)}},
    ),
    (
        [card()],
        (),
        {"ids": ["m/0", "m/1"], "count": 2},
        {
            "NO_MATCHING_GPU": {"missing": ("m/1",)},
            "INSUFFICIENT_GPUS": {"need": 2, "free": 1, "whole": 1},
        },
    ),
]


@pytest.mark.parametrize(("cards", "denied", "gpus", "true"), SCARCE)
def test_what_a_host_short_of_gpus_says_and_that_the_engine_says_so(
    cards: list[dict[str, Any]],
    denied: tuple[int, ...],
    gpus: dict[str, Any],
    true: dict[str, Any],
) -> None:
    fleet = fleet_of(cards, gpus, denied)
    assert said(fleet) == true
    assert lies(fleet, solve(fleet)) == []


def test_a_pinned_gpu_that_is_held_is_busy() -> None:
    runs = [running("other", ("m", 1)), run("r", {"ids": ["m/0"], "count": 1})]
    fleet = snapshot([machine("m", 2)], runs)
    assert said(fleet) == {
        "PINNED_GPU_BUSY": {"busy": ("m/0",)},
        "INSUFFICIENT_GPUS": {"need": 1, "free": 0, "whole": 1},
    }
    assert lies(fleet, solve(fleet)) == []


def test_every_failing_rule_is_said_in_the_order_of_the_filters() -> None:
    host = machine("m", 2, state="draining", cpu_cores=2, constraints={"max_accelerators": 1})
    asked = run("r", 3, cpu_cores=4, needs=["sandbox"], node_selection={"names": ["n"]})
    fleet = snapshot([host, machine("n", 1)], [asked | {"drives": [{"name": "d"}]}])
    assert list(said(fleet)) == [
        "MACHINE_DRAINING",
        "CAPABILITY_MISSING",
        "NOT_SELECTED",
        "INSUFFICIENT_CPU",
        "INSUFFICIENT_GPUS",
        "MAX_ACCELERATORS",
        "DRIVE_MISSING",
    ]
    assert lies(fleet, solve(fleet)) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"state": "cordoned", "state_reason": "firmware"}, {"state": "cordoned"}),
        ({"state": "down", "state_reason": "fire"}, {"state": "down"}),
        ({"labels": {"zone": "b"}}, {}),
    ],
)
def test_hosts_with_other_words_are_told_apart(one: dict[str, Any], other: dict[str, Any]) -> None:
    asked = run("r", 1, node_selection={"match_labels": {"zone": "a"}})
    fleet = snapshot([machine("m", 1, **one), machine("n", 1, **other)], [asked])
    assert lies(fleet, solve(fleet)) == []
