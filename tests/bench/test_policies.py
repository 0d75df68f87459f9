"""Every policy gives an answer that fits, and none beats what an exact solver proves."""

from __future__ import annotations

import pytest

from stowplan.model.snapshot import Snapshot
from tests.bench import catalogue
from tests.bench.instances import irregular, racks
from tests.bench.plain import problem_of
from tests.bench.policies.answer import Answer, Task

SNAPSHOTS = {
    "racks": racks.snapshot(24, 8, 4, 45, seed=2, kinds=20),
    "irregular": irregular.snapshot("tight", 1, 12, kinds=10),
}
ONE_BY_ONE = ("first-fit", "best-fit", "fgd", "decreasing")


def task(snapshot: Snapshot) -> Task:
    return Task(snapshot, problem_of(snapshot), time_limit_s=5, gap=0)


def answered(task: Task, policy: str) -> tuple[Answer, tuple[int, ...]]:
    answer = catalogue.policy(policy)(task)
    task.problem.check(answer.placed)
    return answer, task.problem.weight_by_tier(answer.placed)


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_exact_solvers_agree_and_no_other_policy_beats_them(name: str) -> None:
    instance = task(SNAPSHOTS[name])
    best = []
    for solver in ("cp-sat", "highs-hosts"):
        answer, weights = answered(instance, solver)
        assert answer.status == "OPTIMAL"
        assert answer.bound == pytest.approx(sum(weights))
        best.append(weights)
    assert best[0] == best[1]
    for policy in (*ONE_BY_ONE, "highs"):
        _, weights = answered(instance, policy)
        assert weights <= best[0]


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_like_hosts_taken_together_never_prove_less_than_fits(name: str) -> None:
    instance = task(SNAPSHOTS[name])
    top = len(instance.problem.tiers) == 1
    together, _ = answered(instance, "highs")
    _, weights = answered(instance, "highs-hosts")
    assert together.bound is not None
    assert not top or together.bound >= sum(weights) - 1e-6


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_ours_is_measured_by_the_same_weights(name: str) -> None:
    instance = task(SNAPSHOTS[name])
    answer, weights = answered(instance, "stowplan")
    assert answer.bound is not None
    assert answer.bound >= sum(weights)
    for policy in ONE_BY_ONE:
        assert weights >= answered(instance, policy)[1]
