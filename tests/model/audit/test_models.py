from __future__ import annotations

import pytest

from stowplan.model.audit import audit
from tests.build import broken, card, decided, machine, run, snapshot
from tests.model.audit.bought import market, offering, priced, work

MACHINES = [machine("m", [card(model="NVIDIA L40S"), card(model="NVIDIA H100 80GB HBM3")])]


@pytest.mark.parametrize("terms", [[], ["h100"], ["A100", "H100 80gb"], ["NVIDIA"]])
def test_a_term_is_any_part_of_the_model_in_any_case(terms: list[str]) -> None:
    s = snapshot(MACHINES, [run("a", {"count": 1, "models": terms})])
    assert audit(s, decided(s, {"a": [("m", ["m/1"])]})) == ()


@pytest.mark.parametrize("terms", [["A100"], ["H200", "B200"], ["H100 PCIe"]])
def test_a_gpu_of_another_model_is_refused(terms: list[str]) -> None:
    s = snapshot(MACHINES, [run("a", {"count": 1, "models": terms})])
    assert broken(s, decided(s, {"a": [("m", ["m/1"])]})) == {"models"}


def test_one_wrong_gpu_among_right_ones_is_refused() -> None:
    s = snapshot(MACHINES, [run("a", {"count": 2, "models": ["H100"]})])
    assert broken(s, decided(s, {"a": [("m", 2)]})) == {"models"}


def test_an_instance_s_gpus_have_a_model_too() -> None:
    for model, rules in (("a100", set()), ("H100", {"models"})):
        s = market([offering()], [work("a", {"count": 1, "models": [model]})])
        assert broken(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == rules
