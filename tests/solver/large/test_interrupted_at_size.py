"""Ctrl-C at any moment of a cycle over many hosts: always a decision that its audit passes."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from stowplan.model.audit import audit
from stowplan.model.decision import Decision
from stowplan.model.snapshot import Snapshot
from stowplan.solver import cycle
from stowplan.solver.interrupt import Interrupt
from stowplan.solver.settings import Settings
from tests.bench.instances import racks

MOMENTS = int(os.environ.get("STOWPLAN_MOMENTS", "50"))


def cluster() -> Snapshot:
    """Return a cluster that takes a while to search: racks, three priorities, no gap allowed."""
    return racks.snapshot(machines=200, racks=12, fabrics=4, runs=360, seed=3)


def interrupted(snapshot: Snapshot, after_s: float) -> Decision:
    """Return the decision of a cycle that is asked to stop after so long, as Ctrl-C would."""

    @contextmanager
    def heeding_a_timer(*_: object) -> Iterator[Interrupt]:
        interrupt = Interrupt()
        timer = threading.Timer(after_s, interrupt.ask)
        timer.start()
        yield interrupt
        timer.cancel()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cycle, "heeding_signals", heeding_a_timer)
        return cycle.solve(snapshot, Settings.of(snapshot, time_limit_s=20, gap=0))


def holds_at(moments: list[float], snapshot: Snapshot) -> None:
    for moment in moments:
        decision = interrupted(snapshot, moment)
        assert audit(snapshot, decision) == ()
        place = decision.solver.stages[0]
        assert place.objective <= place.bound
        assert decision.summary.placed > 0
        if decision.solver.limit_hit == "interrupted":
            assert any(stage.status != "OPTIMAL" for stage in decision.solver.stages)


def test_a_cycle_interrupted_at_a_few_random_moments_gives_an_audited_decision() -> None:
    snapshot, draw = cluster(), random.Random(1)
    holds_at([0.0, *(draw.uniform(0, 1) for _ in range(5))], snapshot)


@pytest.mark.long
def test_a_cycle_interrupted_at_many_random_moments_gives_an_audited_decision() -> None:
    snapshot, draw = cluster(), random.Random(2)
    began = time.monotonic()
    interrupted(snapshot, 20)
    whole = time.monotonic() - began
    holds_at([draw.uniform(0, whole) for _ in range(MOMENTS)], snapshot)
