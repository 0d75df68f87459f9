from __future__ import annotations

from stowplan.model.audit import audit
from tests.build import broken, card, decided, machine, run, snapshot
from tests.model.audit.bought import market, offering, priced, work

MACHINES = [machine("m", [card(), card(vendor="amd"), card(vendor=None)])]


def test_a_gpu_of_the_vendor_asked_for_will_do() -> None:
    s = snapshot(MACHINES, [run("a", {"count": 1, "vendor": "amd"})])
    assert audit(s, decided(s, {"a": [("m", ["m/1"])]})) == ()


def test_a_gpu_of_another_vendor_is_refused() -> None:
    s = snapshot(MACHINES, [run("a", {"count": 1, "vendor": "amd"})])
    assert broken(s, decided(s, {"a": [("m", ["m/0"])]})) == {"vendor"}


def test_a_gpu_that_tells_no_vendor_is_nobody_s() -> None:
    s = snapshot(MACHINES, [run("a", {"count": 1, "vendor": "nvidia"}), run("b", 1)])
    assert broken(s, decided(s, {"a": [("m", ["m/2"])]})) == {"vendor"}
    assert audit(s, decided(s, {"b": [("m", ["m/2"])]})) == ()


def test_an_instance_s_gpus_have_a_vendor_too() -> None:
    for vendor, rules in (("nvidia", set()), ("amd", {"vendor"})):
        s = market([offering()], [work("a", {"count": 1, "vendor": vendor})])
        assert broken(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == rules
