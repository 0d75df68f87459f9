from __future__ import annotations

import pytest

from stowplan.model.errors import InternalError
from stowplan.model.reasons import Code
from stowplan.solver import cycle
from stowplan.solver.cycle import RULES, solve
from tests.build import Document, run, snapshot
from tests.model.audit.standing import stands
from tests.solver.cycles import outcome_of, places, starts, told

FOUR = [stands(name, gpus=2) for name in "abcd"]


def bounded(most: int, **more: Document | int) -> Document:
    """A run that needs four of the machines, and allows so many."""
    return run("r", 8, topology={"max_nodes": most}, **more)


def test_a_run_has_as_many_workers_as_it_allows_and_never_more() -> None:
    assert sorted(places(snapshot(FOUR, [bounded(4)]))["r"]) == ["a", "b", "c", "d"]
    assert starts(snapshot(FOUR, [bounded(3)])) == set()


def test_more_machines_than_it_allows_are_refused() -> None:
    outcome = outcome_of(snapshot(FOUR, [bounded(3, machines=4)]), "r")
    assert outcome.outcome == "refused"
    assert told(outcome.reason) == (
        Code.UNEVEN_SHAPE,
        "8 GPUs over 4 machines: more than max_nodes 3",
        {"gpus": 8, "machines": 4, "max_nodes": 3},
    )


def test_on_every_machine_it_bounds_how_many_those_may_be() -> None:
    everywhere = {"node_selection": {"mode": "all"}}
    assert sorted(places(snapshot(FOUR, [bounded(4, **everywhere)]))["r"]) == ["a", "b", "c", "d"]
    outcome = outcome_of(snapshot(FOUR, [bounded(3, **everywhere)]), "r")
    assert outcome.outcome == "refused"
    assert told(outcome.reason) == (
        Code.UNEVEN_SHAPE,
        "8 GPUs over 4 machines: more than max_nodes 3",
        {"gpus": 8, "machines": 4, "max_nodes": 3},
    )


def test_elements_of_an_array_are_not_counted() -> None:
    elements = run("r", 2, topology={"max_nodes": 1}, array={"size": 4})
    assert sorted(places(snapshot(FOUR, [elements]))["r"]) == ["a", "b", "c", "d"]


def test_left_out_it_bounds_nothing_and_the_audit_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cycle, "RULES", [rule for rule in RULES if rule.name != "max_nodes"])
    with pytest.raises(InternalError, match="max_nodes: r: 4 workers, and max_nodes 3"):
        solve(snapshot(FOUR, [bounded(3)]))
