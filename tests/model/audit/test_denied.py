from __future__ import annotations

from stowplan.model.audit import audit
from tests.build import broken, decided, machine, run, running, snapshot

WITHHELD = machine("m", 2, constraints={"denied_devices": ["m/0"]})


def test_the_gpus_beside_a_withheld_one_are_given_out() -> None:
    s = snapshot([WITHHELD], [run("a", 1)])
    assert audit(s, decided(s, {"a": [("m", ["m/1"])]})) == ()


def test_a_withheld_gpu_is_refused() -> None:
    s = snapshot([WITHHELD], [run("a", 1)])
    assert broken(s, decided(s, {"a": [("m", ["m/0"])]})) == {"denied"}


def test_a_run_that_has_a_gpu_withheld_since_keeps_it() -> None:
    s = snapshot([WITHHELD], [running("a", ("m", 1))])
    assert audit(s, decided(s)) == ()
