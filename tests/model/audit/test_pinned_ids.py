from __future__ import annotations

from stowplan.model.audit import audit
from tests.build import broken, card, decided, machine, run, snapshot
from tests.model.audit.bought import market, offering, priced, work

MACHINES = [machine("m", 3), machine("n", 3)]
RUN = run("a", {"ids": ["m/0", "m/2"]})


def test_a_run_gets_the_gpus_that_it_pins() -> None:
    s = snapshot(MACHINES, [RUN])
    assert audit(s, decided(s, {"a": [("m", ["m/2", "m/0"])]})) == ()


def test_a_run_that_gets_another_gpu_is_refused() -> None:
    s = snapshot(MACHINES, [RUN])
    assert broken(s, decided(s, {"a": [("m", ["m/0", "m/1"])]})) == {"pinned_ids"}
    assert broken(s, decided(s, {"a": [("n", 2)]})) == {"pinned_ids"}


def test_a_run_that_pins_gpus_buys_none() -> None:
    s = market([offering()], [work("a", {"ids": ["a100#1/0"]})])
    assert broken(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == {"pinned_ids"}


def test_a_gpu_that_two_machines_have_under_one_name_is_given_once() -> None:
    machines = [machine(name, [card(id="gpu-0"), card(id="gpu-1")]) for name in ("m", "n")]
    s = snapshot(machines, [run("a", {"ids": ["gpu-0", "gpu-1"]}, topology={})])
    assert audit(s, decided(s, {"a": [("m", ["gpu-0"]), ("n", ["gpu-1"])]})) == ()
    assert broken(s, decided(s, {"a": [("m", ["gpu-0"]), ("n", ["gpu-0"])]})) == {"pinned_ids"}
