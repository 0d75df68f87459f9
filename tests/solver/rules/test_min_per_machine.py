from __future__ import annotations

import pytest

from stowplan.model.errors import InternalError
from stowplan.model.reasons import Code
from stowplan.solver import cycle
from stowplan.solver.cycle import RULES, solve
from tests.build import Document, run, snapshot
from tests.model.audit.standing import stands
from tests.solver.cycles import outcome_of, placed, starts, told

FOUR = [stands(name, gpus=2) for name in "abcd"]


def bounded(least: int, gpus: int = 8, **more: Document | int) -> Document:
    return run("r", {"count": gpus, "min_per_machine": least}, **{"topology": {}, **more})


def test_each_worker_has_as_many_gpus_as_the_run_asks_for_and_never_fewer() -> None:
    assert placed(snapshot(FOUR, [bounded(2)]), "r").shape.gpus_each == 2
    assert starts(snapshot(FOUR, [bounded(3)])) == set()


def test_smaller_pieces_than_it_asks_for_are_refused() -> None:
    outcome = outcome_of(snapshot(FOUR, [bounded(4, machines=4)]), "r")
    assert outcome.outcome == "refused"
    assert told(outcome.reason) == (
        Code.UNEVEN_SHAPE,
        "8 GPUs over 4 machines is 2 each, fewer than min_per_machine 4",
        {"gpus": 8, "machines": 4, "min_per_machine": 4},
    )


def test_an_element_of_an_array_with_fewer_is_refused() -> None:
    for least, is_refused in ((2, False), (3, True)):
        outcome = outcome_of(snapshot(FOUR, [bounded(least, 2, array={"size": 4})]), "r")
        assert (outcome.outcome == "refused") is is_refused


def test_left_out_it_bounds_nothing_and_the_audit_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cycle, "RULES", [rule for rule in RULES if rule.name != "min_per_machine"])
    with pytest.raises(InternalError, match="gets 2 GPUs, fewer than min_per_machine 3"):
        solve(snapshot(FOUR, [bounded(3)]))
