from __future__ import annotations

import pytest

from stowplan.model.errors import InternalError
from stowplan.model.reasons import Code
from stowplan.solver import cycle
from stowplan.solver.cycle import RULES, solve
from tests.build import Document, run, snapshot
from tests.model.audit.standing import stands
from tests.solver.cycles import outcome_of, places, starts, told

THREE = [stands(name, gpus=3) for name in "abc"]


def in_powers(gpus: int, **more: int) -> Document:
    return run("r", {"count": gpus, "policy": "per_node"}, topology={}, **more)


@pytest.mark.parametrize(
    ("gpus", "each"), [(1, [1]), (2, [2]), (3, [1, 1, 1]), (4, [2, 2]), (6, [2, 2, 2])]
)
def test_each_worker_has_a_power_of_two(gpus: int, each: list[int]) -> None:
    s = snapshot(THREE, [in_powers(gpus)])
    [outcome] = solve(s).outcomes
    assert outcome.outcome == "placed"
    assert [len(worker.devices) for worker in outcome.workers] == each
    assert len(set(places(s)["r"])) == len(each)


def test_a_run_that_only_other_numbers_would_fit_waits() -> None:
    assert starts(snapshot(THREE[:2], [in_powers(6)])) == set()


def test_other_numbers_are_refused() -> None:
    outcome = outcome_of(snapshot(THREE, [in_powers(6, machines=2)]), "r")
    assert outcome.outcome == "refused"
    assert told(outcome.reason) == (
        Code.UNEVEN_SHAPE,
        "6 GPUs over 2 machines is 3 each, not a power of two as policy per_node asks",
        {"gpus": 6, "machines": 2, "gpus_each": 3},
    )


def test_left_out_it_bounds_nothing_and_the_audit_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cycle, "RULES", [rule for rule in RULES if rule.name != "per_node"])
    with pytest.raises(InternalError, match="3 GPUs each, and policy per_node asks for a power"):
        solve(snapshot(THREE[:2], [in_powers(6)]))
