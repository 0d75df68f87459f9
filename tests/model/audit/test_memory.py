from __future__ import annotations

from stowplan.model.audit import audit
from tests.build import GIB, broken, decided, machine, run, running, snapshot
from tests.model.audit.bought import market, offering, priced, work


def test_a_byte_too_much_is_refused() -> None:
    machines = [machine("m", memory_bytes=8 * GIB)]
    s = snapshot(machines, [run("a", memory_bytes=8 * GIB), run("b", memory_bytes=8 * GIB + 1)])
    assert audit(s, decided(s, {"a": [("m", 0)]})) == ()
    assert broken(s, decided(s, {"b": [("m", 0)]})) == {"memory"}


def test_runs_that_fit_alone_and_not_together_are_refused_together() -> None:
    machines = [machine("m", memory_bytes=8 * GIB)]
    s = snapshot(machines, [run("a", memory_bytes=5 * GIB), run("b", memory_bytes=4 * GIB)])
    assert broken(s, decided(s, {"a": [("m", 0)], "b": [("m", 0)]})) == {"memory"}


def test_what_runs_and_others_use_is_not_free() -> None:
    m = machine("m", 2, memory_bytes=16 * GIB, used={"memory_bytes": GIB})
    held = running("a", ("m", 2), memory_bytes=GIB, per_gpu={"memory_bytes": 3 * GIB})
    fits, short = run("b", memory_bytes=8 * GIB), run("c", memory_bytes=8 * GIB + 1)
    s = snapshot([m], [held, fits, short])
    assert audit(s, decided(s, {"b": [("m", 0)]})) == ()
    assert broken(s, decided(s, {"c": [("m", 0)]})) == {"memory"}


def test_a_running_run_whose_gpu_has_vanished_still_holds_its_memory() -> None:
    held = running("a", ("m", ["gone"]), memory_bytes=6 * GIB)
    s = snapshot([machine("m", memory_bytes=8 * GIB)], [held, run("b", memory_bytes=3 * GIB)])
    assert broken(s, decided(s, {"b": [("m", 0)]})) == {"memory"}


def test_an_instance_has_the_memory_that_its_offering_states() -> None:
    for more, rules in ((0, set()), (1, {"memory"})):
        asked = work("a", 2, memory_bytes=8 * GIB + more, per_gpu={"memory_bytes": 4 * GIB})
        s = market([offering(memory_bytes=16 * GIB)], [asked])
        assert broken(s, priced(s, {"a": [("a100#1", 2)]}, "3.60")) == rules
