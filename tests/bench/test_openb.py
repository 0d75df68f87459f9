"""The first 200 machines and 1,200 runs of openb as one cycle, against the online baselines."""

from __future__ import annotations

import pytest

from stowplan.model.audit import audit
from stowplan.solver.cycle import solve
from tests.bench import openb
from tests.bench.baselines import best_fit, fgd, first_fit, gpus_placed

pytestmark = pytest.mark.skipif(
    not openb.FOLDER.exists(), reason="the openb trace isn't here (../shared/data/openb)"
)


def test_a_joint_cycle_places_no_fewer_gpus_than_the_online_policies() -> None:
    machines, runs = openb.nodes()[:200], openb.pods()[:1200]
    snapshot = openb.snapshot(machines, runs)
    decision = solve(snapshot)
    assert audit(snapshot, decision) == ()
    for policy in (first_fit, best_fit, fgd(openb.pods())):
        assert decision.summary.gpus_placed >= gpus_placed(machines, runs, policy)
    place = decision.solver.stages[0]
    # The runs ask for 1,089 GPUs and there are 1,099: all start, which no policy can beat.
    assert (place.status, decision.summary.gpus_placed) == ("OPTIMAL", 1089)
