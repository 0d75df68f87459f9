"""The plain form says what the snapshot says."""

from __future__ import annotations

import pytest

from stowplan.model.snapshot import Snapshot
from tests.bench.plain import Problem, problem_of

GIB = 2**30
CARD = {"model": "NVIDIA A100-SXM4-80GB", "memory_mib": 81920}


@pytest.fixture
def problem() -> Problem:
    """Return two machines, one of them in use, and three runs."""
    return problem_of(
        Snapshot.read(
            {
                "now": "2026-01-01T12:00:00Z",
                "fleet": {
                    "machines": [
                        {
                            "name": "in-use",
                            "labels": {"zone": "a"},
                            "cpu_cores": 32,
                            "memory_bytes": 64 * GIB,
                            "used": {"cpu_cores": 2.5, "memory_bytes": GIB},
                            "devices": [CARD, CARD, CARD, {**CARD, "health": "at_risk"}],
                        },
                        {
                            "name": "empty",
                            "cpu_cores": 8,
                            "memory_bytes": 8 * GIB,
                            "devices": {"count": 2, **CARD},
                        },
                    ]
                },
                "runs": [
                    {
                        "name": "here",
                        "state": "running",
                        "gpus": {"count": 2},
                        "per_gpu": {"cpu_cores": 4, "memory_bytes": 8 * GIB},
                        "placed": {
                            "workers": [{"host": "in-use", "devices": ["in-use/0", "in-use/1"]}]
                        },
                    },
                    {"name": "young", "gpus": {"count": 1}, "machines": 1},
                    {
                        "name": "old",
                        "submitted_at": "2026-01-01T06:00:00Z",
                        "gpus": {"count": 1, "models": ["a100"], "healthy_only": True},
                        "node_selection": {"match_labels": {"zone": "a"}},
                        "machines": 1,
                    },
                    {"name": "first", "priority": 1, "cpu_cores": 2},
                ],
            }
        )
    )


def test_room_is_what_runs_and_others_leave(problem: Problem) -> None:
    assert problem.room.tolist() == [[2, 1, 21_500, 47 * 1024], [2, 2, 8000, 8 * 1024]]


def test_the_queue_goes_by_priority_then_age(problem: Problem) -> None:
    asked = [(problem.kinds[kind].asks[:2], problem.kinds[kind].weight) for kind in problem.queue]
    assert asked == [((0, 0), 8), ((1, 1), 16), ((1, 0), 8)]


def test_runs_accept_machines_by_label_and_model(problem: Problem) -> None:
    assert problem.accepts[problem.kind_of["old"]].tolist() == [True, False]
    assert problem.accepts[problem.kind_of["young"]].tolist() == [True, True]


def test_weight_is_told_by_priority(problem: Problem) -> None:
    answer = problem.nothing()
    answer[problem.kind_of["first"], 1] = 1
    answer[problem.kind_of["old"], 0] = 1
    problem.check(answer)
    assert problem.weight_by_tier(answer) == (8, 16)


@pytest.mark.parametrize(
    ("run", "host", "many", "message"),
    [
        ("young", 0, 2, "more runs than there are"),
        ("old", 1, 1, "the runs don.t accept"),
        ("first", 0, -1, "fewer than none"),
    ],
)
def test_what_cannot_be_is_refused(
    problem: Problem, run: str, host: int, many: int, message: str
) -> None:
    answer = problem.nothing()
    answer[problem.kind_of[run], host] = many
    with pytest.raises(AssertionError, match=message):
        problem.check(answer)
