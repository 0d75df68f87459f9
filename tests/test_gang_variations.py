"""What a change of a snapshot of gangs may change in the decision, and what it mayn't."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stowplan.model.decision import Decision, WaitingRun
from stowplan.model.snapshot import Snapshot
from tests.gang_oracle import figures, weight
from tests.gang_strategies import gang_snapshots, machines
from tests.strategies import examples
from tests.test_gang_laws import placed
from tests.test_laws import decision_on
from tests.variations import document_of, renamed, shuffled

type Document = dict[str, Any]  # Any: whatever JSON can hold

LONG = examples(int(os.environ.get("STOWPLAN_FUZZ_EXAMPLES", "2000")), is_long=True)

FREE = ("patience", "strict")
"""Features of runs that may wait though there is room: a better place makes them wait longer."""


def placed_weight(snapshot: Snapshot) -> tuple[int, ...]:
    """What is placed in each tier, the highest first."""
    return figures(snapshot, decision_on(snapshot)).weight


def a_machine_more_never_lowers_what_is_placed(data: st.DataObject) -> None:
    snapshot = data.draw(gang_snapshots(max_machines=4, without=FREE))
    document = document_of(snapshot)
    document["fleet"]["machines"].append(data.draw(machines("new")))
    assert placed_weight(Snapshot.read(document)) >= placed_weight(snapshot)


def a_looser_rule_never_lowers_what_is_placed(data: st.DataObject) -> None:
    snapshot = data.draw(gang_snapshots(without=FREE))
    document = document_of(snapshot)
    changes = list(_loosenings(document))
    assume(changes)
    data.draw(st.sampled_from(changes))()
    assert placed_weight(Snapshot.read(document)) >= placed_weight(snapshot)


def less_patience_never_lowers_what_is_placed(data: st.DataObject) -> None:
    always = ("patience", "running", "racks", "cliques")
    snapshot = data.draw(gang_snapshots(always=always, without=("strict",)))
    document = document_of(snapshot)
    patient = [run["topology"] for run in document["runs"] if run["topology"]["patience_s"]]
    assume(patient)
    for topology in patient:
        topology["patience_s"] = 0
    assert placed_weight(Snapshot.read(document)) >= placed_weight(snapshot)


def other_names_of_places_change_nothing(data: st.DataObject) -> None:
    snapshot = data.draw(gang_snapshots(always=("racks",)))
    document = document_of(snapshot)
    kinds = (("r1", "r2", "r3"), ("f1", "f2", "n1", "n2"), ("c1", "c2"), ("s1", "s2"))
    names: dict[str, str] = {}
    for kind in kinds:
        names |= zip(kind, data.draw(st.permutations(kind)), strict=True)
    for machine in document["fleet"]["machines"]:
        machine["labels"] = {
            label: names.get(place, place) for label, place in machine["labels"].items()
        }
        machine["network"] = names.get(machine["network"])
        for port in machine["rdma"]:
            port["subnet"] = names.get(port["subnet"])
        for device in machine["devices"]:
            device["nvlink_clique"] = names.get(device["nvlink_clique"])
    other = Snapshot.read(document)
    assert figures(other, decision_on(other)) == figures(snapshot, decision_on(snapshot))


def other_names_of_machines_and_runs_change_nothing_but_ties(data: st.DataObject) -> None:
    snapshot = data.draw(gang_snapshots())
    other, names = data.draw(renamed(snapshot))
    before, after = decision_on(snapshot), decision_on(other)
    assert figures(other, after).weight == figures(snapshot, before).weight
    if placed(after) == {names[run] for run in placed(before)}:
        assert figures(other, after) == figures(snapshot, before)


def the_order_of_lists_changes_nothing(data: st.DataObject) -> None:
    snapshot = data.draw(gang_snapshots())
    one, other = decision_on(snapshot), decision_on(data.draw(shuffled(snapshot)))
    assert _places(one) == _places(other)


def a_run_less_leaves_the_others_what_they_have(data: st.DataObject) -> None:
    """What is placed of others weighs no less; where they are the same, they are no worse off."""
    snapshot = data.draw(gang_snapshots())
    before = decision_on(snapshot)
    gone = data.draw(st.sampled_from([outcome.run for outcome in before.outcomes]))
    assume(next(run for run in snapshot.runs if run.name == gone).state == "pending")
    document = document_of(snapshot)
    document["runs"] = [run for run in document["runs"] if run["name"] != gone]
    other = Snapshot.read(document)
    after, others = decision_on(other), placed(before) - {gone}
    assert weight(other, placed(after)) >= weight(other, others)
    if placed(after) == others:
        own = _alone(snapshot, before, gone)
        costs = (figures(snapshot, before)[1:5], figures(other, after)[1:5])
        assert costs[1] <= tuple(all - of_it for all, of_it in zip(costs[0], own, strict=True))


def a_run_that_waits_takes_nothing_from_the_others(data: st.DataObject) -> None:
    snapshot = data.draw(gang_snapshots(max_machines=3, without=("strict",)))
    decision = decision_on(snapshot)
    waiting = [each.run for each in decision.outcomes if isinstance(each, WaitingRun)]
    assume(waiting)
    gone = data.draw(st.sampled_from(waiting))
    document = document_of(snapshot)
    document["runs"] = [run for run in document["runs"] if run["name"] != gone]
    other = Snapshot.read(document)
    assert placed_weight(other) == weight(other, placed(decision))


LAWS = (
    a_machine_more_never_lowers_what_is_placed,
    a_looser_rule_never_lowers_what_is_placed,
    less_patience_never_lowers_what_is_placed,
    other_names_of_places_change_nothing,
    other_names_of_machines_and_runs_change_nothing_but_ties,
    the_order_of_lists_changes_nothing,
    a_run_less_leaves_the_others_what_they_have,
    a_run_that_waits_takes_nothing_from_the_others,
)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@examples(75)
@given(data=st.data())
def test_a_law_holds(law: Callable[[st.DataObject], None], data: st.DataObject) -> None:
    law(data)


@pytest.mark.long
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@LONG
@given(data=st.data())
def test_a_law_holds_on_many_snapshots(
    law: Callable[[st.DataObject], None], data: st.DataObject
) -> None:
    law(data)


def _loosenings(document: Document) -> Iterator[Callable[[], None]]:
    """Yield a change of the document for each rule of topology that binds and can be loosened."""
    for run in document["runs"]:
        for holder, fields in (
            (run["topology"], ("keep_within", "spread", "min_nodes", "max_nodes")),
            (run["network"], ("interconnect", "min_gbps")),
            (run["gpus"], ("min_per_machine", "policy")),
        ):
            for field in fields:
                if holder[field] not in (None, "auto") and run["state"] == "pending":
                    free = "auto" if field == "interconnect" else None
                    yield partial(holder.update, {field: free})


def _places(decision: Decision) -> dict[str, list[tuple[str, int]]]:
    """The machine of each worker of the runs that are placed, and how many GPUs it has."""
    return {
        outcome.run: sorted((worker.host, len(worker.devices)) for worker in outcome.workers)
        for outcome in decision.outcomes
        if outcome.outcome == "placed"
    }


def _alone(snapshot: Snapshot, decision: Decision, run: str) -> tuple[int, ...]:
    """What one run adds to the GPUs at risk, the rungs, the workers and the room left."""
    own = tuple(outcome for outcome in decision.outcomes if outcome.run == run)
    return figures(snapshot, decision.model_copy(update={"outcomes": own}))[1:5]
