"""Each scenario's answer is what its file in scenarios/expected says, worked out by hand there."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from stowplan.adapters.snapshot_file import load
from stowplan.model.audit import audit
from stowplan.model.decision import Decision, PlacedRun, StayingRun, WaitingRun
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from stowplan.solver.cycle import solve

FOLDER = Path(__file__).parent.parent / "scenarios"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
OUTCOMES = ("placed", "kept", "held", "withdrawn", "waiting", "refused")
CHECKS = {
    *OUTCOMES, "gpus_placed", "weight", "proven", "place_proven", "at_risk_given", "arrays",
    "elements", "hosts", "devices", "reasons", "message_contains", "numbers", "closest", "counts",
    "usd_per_hour", "cost_usd", "assembly_usd", "references", "shapes", "rungs", "groups",
    "machines", "racks",
}  # fmt: skip

type Expected = dict[str, Any]  # Any: what a YAML file holds


def expected(name: str) -> Expected:
    said: Expected = yaml.safe_load((FOLDER / "expected" / f"{name}.yaml").read_text())
    assert said.keys() <= CHECKS, f"no such check: {said.keys() - CHECKS}"
    return said


@cache
def answered(name: str) -> tuple[Snapshot, Decision]:
    asked = load(FOLDER / f"{name}.yaml")
    return asked, solve(asked)


def test_every_scenario_has_expectations_and_the_other_way_round() -> None:
    assert sorted(path.stem for path in (FOLDER / "expected").glob("*.yaml")) == NAMES
    assert len(NAMES) > 10


@pytest.mark.parametrize("name", NAMES)
def test_the_decision_keeps_every_rule(name: str) -> None:
    assert audit(*answered(name)) == ()


@pytest.mark.parametrize("name", NAMES)
def test_each_run_comes_out_as_it_must_for_the_reason_it_must(name: str) -> None:
    said = expected(name)
    _, decision = answered(name)
    want: dict[str, str] = {}
    for kind in OUTCOMES:
        want |= dict.fromkeys(said.get(kind, ()), kind)
    assert {outcome.run: outcome.outcome for outcome in decision.outcomes} == want
    for outcome in decision.outcomes:
        codes = said.get(outcome.outcome)
        codes = codes.get(outcome.run) if isinstance(codes, dict) else None
        codes = said.get("reasons", {}).get(outcome.run, codes)
        if codes is not None:
            assert outcome.reason is not None
            allowed = codes if isinstance(codes, list) else [codes]
            assert outcome.reason.code in allowed, outcome.reason.message


@pytest.mark.parametrize("name", NAMES)
def test_as_much_is_placed_as_can_be(name: str) -> None:
    said = expected(name)
    asked, decision = answered(name)
    assert decision.summary.gpus_placed == said["gpus_placed"]
    if said["proven"]:
        assert decision.solver.status == "OPTIMAL"
    if said["proven"] or said["place_proven"]:
        assert decision.solver.stages[0].gap == 0
    if "weight" in said:
        runs = {run.name: run for run in asked.runs}
        assert said["weight"] == sum(
            _weight(runs[outcome.run], outcome, asked)
            for outcome in decision.outcomes
            if isinstance(outcome, PlacedRun)
        )
    if "at_risk_given" in said:
        risky = {
            (machine.name, device.id)
            for machine in asked.fleet.machines
            for device in machine.devices
            if device.health == "at_risk"
        }
        given = {
            (worker.host, device)
            for outcome in decision.outcomes
            if isinstance(outcome, PlacedRun)
            for worker in outcome.workers
            for device in worker.devices
        }
        assert len(given & risky) == said["at_risk_given"]


def _weight(run: Run, outcome: PlacedRun, asked: Snapshot) -> int:
    """Return what a placed run weighs, as the documentation of the queue says it."""
    waited = int((asked.now - (run.submitted_at or asked.now)).total_seconds())
    steps = min(64, max(0, waited) * 8 // asked.policy.ageing_s)
    units = sum(len(worker.devices) for worker in outcome.workers) or len(outcome.workers)
    return units * (8 + steps)


@pytest.mark.parametrize("name", NAMES)
def test_workers_are_where_they_must_be(name: str) -> None:
    said = expected(name)
    outcomes = {outcome.run: outcome for outcome in answered(name)[1].outcomes}
    for run, hosts in said.get("hosts", {}).items():
        outcome = outcomes[run]
        assert isinstance(outcome, PlacedRun)
        assert {worker.host for worker in outcome.workers} <= set(hosts)
    for run, devices in said.get("devices", {}).items():
        outcome = outcomes[run]
        assert isinstance(outcome, PlacedRun)
        assert sorted(d for worker in outcome.workers for d in worker.devices) == devices
    for run, elements in said.get("elements", {}).items():
        outcome = outcomes[run]
        assert isinstance(outcome, PlacedRun)
        assert [worker.element for worker in outcome.workers] == elements
    for run, counts in said.get("arrays", {}).items():
        outcome = outcomes[run]
        assert isinstance(outcome, PlacedRun | StayingRun | WaitingRun)
        assert outcome.array
        assert outcome.array.model_dump() == counts


@pytest.mark.parametrize("name", NAMES)
def test_a_run_of_several_workers_is_cut_and_kept_together_as_it_must_be(name: str) -> None:
    said, (asked, decision) = expected(name), answered(name)
    placed = {each.run: each for each in decision.outcomes if isinstance(each, PlacedRun)}
    for run, (tasks, gpus_each) in said.get("shapes", {}).items():
        assert (placed[run].shape.tasks, placed[run].shape.gpus_each) == (tasks, gpus_each)
    for run, rung in said.get("rungs", {}).items():
        assert placed[run].rung in (rung if isinstance(rung, list) else [rung])
    for run, group in said.get("groups", {}).items():
        assert placed[run].group in (group if isinstance(group, list) else [group])
    hosts = {run: {worker.host for worker in each.workers} for run, each in placed.items()}
    for run, count in said.get("machines", {}).items():
        assert len(hosts[run]) == count
    rack = {each.name: each.labels.get("topology/rack") for each in asked.fleet.machines}
    for run, count in said.get("racks", {}).items():
        assert len({rack[host] for host in hosts[run]}) == count


@pytest.mark.parametrize("name", NAMES)
def test_it_costs_what_it_must(name: str) -> None:
    said, (_, decision) = expected(name), answered(name)
    if "usd_per_hour" in said:
        assert str(decision.summary.usd_per_hour) == said["usd_per_hour"]
    outcomes = {outcome.run: outcome for outcome in decision.outcomes}
    for run, cost in said.get("cost_usd", {}).items():
        outcome = outcomes[run]
        assert isinstance(outcome, PlacedRun)
        assert outcome.estimate
        assert (outcome.estimate.cost_usd and outcome.estimate.cost_usd.p50) == cost
    for run, most in said.get("assembly_usd", {}).items():
        outcome = outcomes[run]
        assert isinstance(outcome, PlacedRun)
        assert outcome.estimate
        assert str(outcome.estimate.assembly_bound_usd) == most
    for run, reference in said.get("references", {}).items():
        outcome = outcomes[run]
        assert isinstance(outcome, PlacedRun)
        assert outcome.value
        assert str(outcome.value.reference) == reference


@pytest.mark.parametrize("name", NAMES)
def test_what_is_said_of_a_run_that_waits_is_true(name: str) -> None:
    said = expected(name)
    outcomes = {outcome.run: outcome for outcome in answered(name)[1].outcomes}
    for run, words in said.get("message_contains", {}).items():
        reason = outcomes[run].reason
        assert reason
        assert [word for word in words if word not in reason.message] == [], reason.message
    for run, numbers in said.get("numbers", {}).items():
        reason = outcomes[run].reason
        assert reason
        assert numbers.items() <= dict(reason.numbers).items()
    for run, closest in said.get("closest", {}).items():
        waiting = outcomes[run]
        assert isinstance(waiting, WaitingRun)
        assert waiting.closest == closest
    for run, counts in said.get("counts", {}).items():
        waiting = outcomes[run]
        assert isinstance(waiting, WaitingRun)
        told = (waiting.hosts_checked, waiting.hosts_ready, waiting.hosts_down)
        assert told == (counts["checked"], counts["ready"], counts["down"])
