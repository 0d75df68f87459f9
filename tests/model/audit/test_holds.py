from __future__ import annotations

import pytest

from stowplan.model.audit import audit
from stowplan.model.decision import StayingRun
from stowplan.model.reasons import Code, Reason
from tests.build import (
    Document,
    after,
    altered,
    broken,
    decided,
    machine,
    resolved,
    run,
    running,
    snapshot,
    waiting,
)

FLEET = [
    machine("m", 4),
    machine("down", 4, state="down"),
    machine("stale", 4, reported_at=after(-1000)),
    machine("closed", 4, state="draining"),
]

TABLE = [
    (running("a", ("m", 2)), "kept", Code.OK),
    (running("a", ("closed", 2)), "kept", Code.OK),
    (running("a", ("m", 2), state="starting"), "kept", Code.WORKLOAD_STARTING),
    (running("a", ("m", 2), state="starting", generation=7), "kept", Code.WORKLOAD_STARTING),
    (running("a", ("m", 2), state="starting", generation=6), "withdrawn", Code.WORKLOAD_SUPERSEDED),
    (running("a", ("down", 2), generation=6), "held", Code.HARDWARE_STALE),
    (running("a", ("stale", 2)), "held", Code.HARDWARE_STALE),
    (running("a", ("stale", ["gone"])), "held", Code.HARDWARE_STALE),
    (running("a", ("m", 1), ("stale", 1)), "held", Code.HARDWARE_STALE),
    (running("a", ("elsewhere", 2)), "held", Code.HARDWARE_STALE),
    (running("a", ("m", ["gone"])), "withdrawn", Code.GPU_UNAVAILABLE),
    (running("a", ("m", ["gone"]), ("down", 1)), "held", Code.HARDWARE_STALE),
    (running("a", ("m", ["gone"]), state="starting"), "withdrawn", Code.GPU_UNAVAILABLE),
    (running("a", ("m", 2), state="stopped"), "withdrawn", Code.WORKLOAD_STOPPED),
    (running("a", ("down", 2), state="stopped"), "withdrawn", Code.WORKLOAD_STOPPED),
    (run("a", 2, state="stopped"), "withdrawn", Code.WORKLOAD_STOPPED),
]


@pytest.mark.parametrize(("one", "outcome", "code"), TABLE)
def test_a_run_placed_before_has_the_outcome_of_the_table(
    one: Document, outcome: str, code: Code
) -> None:
    s = snapshot(FLEET, [one], generation=7)
    [stays] = decided(s).outcomes
    assert isinstance(stays, StayingRun)
    right = stays.model_copy(
        update={"outcome": outcome, "reason": Reason.of(code, "as the table says")}
    )
    assert audit(s, resolved(s, [right])) == ()
    for other in {"kept", "held", "withdrawn"} - {outcome}:
        assert broken(s, altered(s, resolved(s, [right]), "a", outcome=other)) == {"holds"}
    wrong = Reason.of(Code.UNKNOWN, "for no reason")
    assert broken(s, altered(s, resolved(s, [right]), "a", reason=wrong)) == {"holds"}


def test_a_stale_machine_among_several_holds_the_run() -> None:
    one = running("a", ("m", 0), ("stale", 0), machines=2)
    s = snapshot(FLEET, [one])
    right = decided(s)
    assert audit(s, right) == ()
    assert broken(s, altered(s, right, "a", outcome="kept")) == {"holds"}


def test_a_run_whose_workers_are_told_elsewhere_is_refused() -> None:
    s = snapshot(FLEET, [running("a", ("m", 2))])
    right = decided(s)
    [stays] = right.outcomes
    assert isinstance(stays, StayingRun)
    moved = stays.workers[0].model_copy(update={"host": "closed"})
    other = stays.workers[0].model_copy(update={"devices": ("m/2", "m/3")})
    for workers in ((moved,), (other,), (), (*stays.workers, moved)):
        assert broken(s, altered(s, right, "a", workers=workers)) == {"holds"}


@pytest.mark.parametrize("state", ["running", "starting", "stopped"])
def test_a_run_placed_before_is_never_placed_anew(state: str) -> None:
    s = snapshot(FLEET, [running("a", ("m", 2), state=state)])
    assert broken(s, decided(s, {"a": [("m", ["m/2", "m/3"])]})) == {"holds"}


def test_a_run_placed_before_never_waits() -> None:
    s = snapshot(FLEET, [running("a", ("m", 2))])
    assert broken(s, resolved(s, [waiting(s, "a")])) == {"holds"}


def test_a_run_placed_before_is_never_refused_for_what_it_asks() -> None:
    one = running("a", ("m", 2), node_selection={"names": ["unknown"]})
    s = snapshot(FLEET, [one])
    assert audit(s, decided(s)) == ()
    assert broken(s, decided(s, refused={"a": Code.NOT_SELECTED})) == {"holds"}


def test_an_array_that_runs_may_start_more() -> None:
    s = snapshot(FLEET, [running("a", ("m", ["m/0"], 0), array={"size": 4})])
    assert audit(s, decided(s)) == ()
    assert audit(s, decided(s, {"a": [("m", ["m/1"])]})) == ()


def test_a_pending_array_with_elements_that_run_is_kept() -> None:
    s = snapshot(FLEET, [running("a", ("m", ["m/0"], 0), array={"size": 4}, state="pending")])
    right = decided(s)
    assert audit(s, right) == ()
    assert broken(s, altered(s, right, "a", outcome="held")) == {"holds"}


@pytest.mark.parametrize(("state", "generation"), [("stopped", 7), ("starting", 6)])
def test_a_stopped_or_superseded_array_starts_nothing(state: str, generation: int) -> None:
    array = running("a", ("m", ["m/0"], 0), array={"size": 4}, state=state, generation=generation)
    s = snapshot(FLEET, [array], generation=7)
    assert audit(s, decided(s)) == ()
    assert "holds" in broken(s, decided(s, {"a": [("m", ["m/1"])]}))
