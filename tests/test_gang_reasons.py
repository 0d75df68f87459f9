"""What waiting runs of several workers are told is so: a change that is said to help does help."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given, note

from stowplan.model.decision import WaitingRun
from stowplan.model.reasons import Code, Reason
from stowplan.model.snapshot import Snapshot
from stowplan.solver.cycle import solve
from tests.gang_strategies import gang_snapshots
from tests.strategies import examples

LONG = examples(int(os.environ.get("STOWPLAN_FUZZ_EXAMPLES", "2000")), is_long=True)
LIMITS = {
    "max_nodes": ("topology", "max_nodes"),
    "min_nodes": ("topology", "min_nodes"),
    "min_per_machine": ("gpus", "min_per_machine"),
    "per_node": ("gpus", "policy"),
}

type Document = dict[str, Any]  # Any: what a YAML file could hold


def alone(snapshot: Snapshot, run: str) -> Document:
    """Return the document of the empty fleet with this run alone; it has no quota or patience."""
    written: Document = snapshot.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    for machine in written["fleet"]["machines"]:
        machine.pop("used", None)
    asked = next(each for each in written["runs"] if each["name"] == run)
    if "topology" in asked:
        asked["topology"].pop("patience_s", None)
    return {**written, "runs": [asked], "policy": {}}


def starts(document: Document) -> bool:
    [outcome] = solve(Snapshot.read(document)).outcomes
    return outcome.outcome == "placed"


def _unnamed(device: Document) -> Document:
    return {field: value for field, value in device.items() if field not in ("id", "index")}


def untrue(snapshot: Snapshot, run: str, reason: Reason) -> list[str]:
    """Return what of a reason isn't so."""
    told, written = reason.numbers, alone(snapshot, run)
    never = told.get("more") or told.get("empty")
    lies = ["it fits the empty fleet"] if never and starts(written) else []
    if isinstance(told.get("more"), int):
        machines = written["fleet"]["machines"]
        like = next(each for each in machines if each["name"] == told["like"])
        like = like | {"devices": [_unnamed(each) for each in like.get("devices", ())]}
        more = [like | {"name": f"more{at}"} for at in range(int(str(told["more"])))]
        if not starts(written | {"fleet": {**written["fleet"], "machines": [*machines, *more]}}):
            lies.append("more machines don't do")
    rules = told.get("rules")
    if isinstance(rules, tuple) and len(rules) == 1 and rules[0] in LIMITS:
        part, field = LIMITS[rules[0]]
        written["runs"][0][part].pop(field)
        if not starts(written):
            lies.append(f"it wouldn't start without {rules[0]}")
    if reason.code == Code.SITE_SPAN:
        lies += _of_sites(snapshot, run)
    return lies


def _of_sites(snapshot: Snapshot, run: str) -> list[str]:
    """Whether it would fit if all were in one site, and it asked for nothing of its network."""
    written = alone(snapshot, run)
    for machine in written["fleet"]["machines"]:
        machine.pop("network", None)
        machine.get("labels", {}).pop("topology/site", None)
    asked = written["runs"][0]
    asked.get("topology", {}).pop("keep_within", None)
    asked.get("topology", {}).pop("spread", None)
    asked.get("network", {}).pop("interconnect", None)
    return [] if starts(written) else ["it wouldn't fit in one site"]


def agree(snapshot: Snapshot) -> None:
    note(snapshot.model_dump_json(by_alias=True, exclude_defaults=True))
    for outcome in solve(snapshot).outcomes:
        if isinstance(outcome, WaitingRun):
            assert untrue(snapshot, outcome.run, outcome.reason) == []


@examples(100)
@given(gang_snapshots(always=("nodes", "least", "per_node", "sites")))
def test_what_is_said_to_help_helps(snapshot: Snapshot) -> None:
    agree(snapshot)


@pytest.mark.long
@LONG
@given(gang_snapshots())
def test_what_is_said_to_help_helps_on_many_snapshots(snapshot: Snapshot) -> None:
    agree(snapshot)
