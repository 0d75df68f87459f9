from __future__ import annotations

import pytest

from stowplan.model.errors import InternalError
from stowplan.model.reasons import Code
from stowplan.solver import cycle
from stowplan.solver.cycle import RULES, solve
from tests.build import Document, run, snapshot
from tests.model.audit.standing import stands
from tests.solver.cycles import outcome_of, places, starts, told

TWO = [stands(name) for name in "ab"]


def bounded(least: int, gpus: int = 8, **more: Document | int) -> Document:
    return run("r", gpus, topology={"min_nodes": least}, **more)


def test_a_run_has_as_many_workers_as_it_asks_for_though_one_would_do() -> None:
    assert places(snapshot(TWO[:1], [bounded(1)])) == {"r": ["a"]}
    assert sorted(places(snapshot(TWO, [bounded(2)]))["r"]) == ["a", "b"]
    assert starts(snapshot(TWO, [bounded(3)])) == set()


def test_fewer_machines_than_it_asks_for_are_refused() -> None:
    outcome = outcome_of(snapshot(TWO, [bounded(3, machines=2)]), "r")
    assert outcome.outcome == "refused"
    assert told(outcome.reason) == (
        Code.UNEVEN_SHAPE,
        "8 GPUs over 2 machines: fewer than min_nodes 3",
        {"gpus": 8, "machines": 2, "min_nodes": 3},
    )


def test_on_every_machine_it_bounds_how_many_those_may_be() -> None:
    everywhere = {"mode": "all"}
    assert sorted(places(snapshot(TWO, [bounded(2, node_selection=everywhere)]))["r"]) == ["a", "b"]
    outcome = outcome_of(snapshot(TWO, [bounded(3, node_selection=everywhere)]), "r")
    assert outcome.outcome == "refused"
    assert told(outcome.reason) == (
        Code.UNEVEN_SHAPE,
        "8 GPUs over 2 machines: fewer than min_nodes 3",
        {"gpus": 8, "machines": 2, "min_nodes": 3},
    )


def test_left_out_it_bounds_nothing_and_the_audit_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cycle, "RULES", [rule for rule in RULES if rule.name != "min_nodes"])
    with pytest.raises(InternalError, match="min_nodes: r: 1 workers, and min_nodes 2"):
        solve(snapshot(TWO, [bounded(2)]))
