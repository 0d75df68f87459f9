"""The laws again, the way of thousands of hosts forced on a few: cells, packing, neighbours."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import currently_in_test_context, given, note

from stowplan.model.audit import audit
from stowplan.model.decision import Decision
from stowplan.model.snapshot import Snapshot
from stowplan.solver import stages
from stowplan.solver.cycle import solve
from stowplan.solver.settings import Settings
from tests.build import machine, run
from tests.build import snapshot as build
from tests.oracle import (
    at_risk_of,
    best,
    fewest_at_risk,
    lies,
    most_points,
    placed,
    points_of,
    weight,
)
from tests.strategies import examples, snapshots

LONG = examples(int(os.environ.get("STOWPLAN_FUZZ_EXAMPLES", "20000")), is_long=True)


@contextmanager
def by_cells() -> Iterator[None]:
    """Let no model be small enough to be searched whole."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "SEARCHED_WHOLE", -1)
        yield


def decided(snapshot: Snapshot) -> Decision:
    if currently_in_test_context():
        note(snapshot.model_dump_json(by_alias=True, exclude_defaults=True))
    with by_cells():
        return solve(snapshot, Settings.of(snapshot, time_limit_s=2))


def agree(snapshot: Snapshot) -> None:
    decision = decided(snapshot)
    assert audit(snapshot, decision) == ()
    assert lies(snapshot, decision) == []
    told = {stage.name: stage for stage in decision.solver.stages}
    place, at_risk, points = told["place"], told["at_risk"], told["points"]
    weights, most = weight(snapshot, decision), best(snapshot)
    assert weights <= most
    assert place.objective == sum(weights)
    if len(most) == 1:  # of several tiers, the bounds of the lower hold beside what starts above
        assert place.bound >= most[0]
    if place.status == "OPTIMAL":
        assert place.bound == place.objective
        assert weights[:1] == most[:1]
    started, risk = placed(decision), at_risk_of(snapshot, decision)
    fewest = fewest_at_risk(snapshot, started)
    assert at_risk.objective == risk >= fewest >= at_risk.bound
    assert at_risk.status != "OPTIMAL" or risk == fewest
    assert points.objective == sum(points_of(snapshot, decision).values())
    assert points.bound >= most_points(snapshot, started, risk)


@examples(300)
@given(snapshots(max_machines=4, max_runs=5))
def test_what_is_placed_over_cells_is_lawful_bounded_and_told_truly(snapshot: Snapshot) -> None:
    agree(snapshot)


@pytest.mark.long
@LONG
@given(snapshots(max_machines=4, max_runs=5))
def test_all_witnesses_agree_on_many_snapshots_over_cells(snapshot: Snapshot) -> None:
    agree(snapshot)


@examples(50)
@given(snapshots())
def test_solving_over_cells_twice_decides_the_same(snapshot: Snapshot) -> None:
    one, other = (decided(snapshot).model_dump(mode="json", exclude={"solver"}) for _ in range(2))
    assert one == other


def test_asks_that_share_a_signature_do_not_borrow_each_others_cores() -> None:
    # 13 GiB a machine: 6 + 7 fill one, 2 + 7 fit the other, so four runs start: 4 x 8. The fifth
    # asks for 6 GiB beside 9, so no five do.
    homes = [machine(name, cpu_cores=20, memory_bytes=13 * 2**30) for name in ("m", "n")]
    runs = [run("cores", cpu_cores=20, memory_bytes=6 * 2**30)]
    runs += [run(f"r{gib}", memory_bytes=gib * 2**30) for gib in (2, 6, 7)]
    runs += [run("other7", memory_bytes=7 * 2**30)]
    asked = build(homes, runs)
    agree(asked)
    assert weight(asked, decided(asked)) == best(asked) == (32,)


def test_runs_that_pin_overlapping_pairs_of_gpus_are_decided_at_once() -> None:
    pairs = [run(f"p{number}", {"ids": ["m/0", f"m/{number}"]}) for number in range(1, 40)]
    asked = build([machine("m", 40)], [*pairs, run("free", 38)])
    place = decided(asked).solver.stages[0]
    assert (place.objective, place.bound, place.status) == (8 * 40, 8 * 40, "OPTIMAL")


def test_a_machine_of_more_lots_than_a_word_has_bits_is_decided() -> None:
    pinned = [run(f"p{number}", {"ids": [f"m/{number}"]}) for number in range(70)]
    decision = decided(build([machine("m", 71)], [*pinned, run("any", 1)]))
    assert decision.summary.placed == 71
