from __future__ import annotations

import pytest

from stowplan.model.reasons import Code
from tests.build import Document, card, machine, run, snapshot
from tests.solver.cycles import blames, gpus_of, places, says, starts

L4 = card(model="NVIDIA L4", memory_mib=23034)


def _asks(*models: str, count: int = 1) -> Document:
    return run("a", {"count": count, "models": list(models)})


def test_a_run_goes_where_its_model_is() -> None:
    s = snapshot([machine("m", 1), machine("n", [L4])], [_asks("L4")])
    assert places(s) == {"a": ["n"]}


@pytest.mark.parametrize("term", ["H100", "h100", "hbm3", "NVIDIA H100 80GB HBM3", "80gb h"])
def test_any_part_of_the_name_in_any_case_will_do(term: str) -> None:
    assert starts(snapshot([machine("m", 1)], [_asks(term)])) == {"a"}


def test_a_machine_without_the_model_says_what_it_has() -> None:
    s = snapshot([machine("m", [card(), L4, L4])], [_asks("h200", "b200")])
    assert blames(s, "a", "m") == (
        Code.NO_MATCHING_GPU,
        "no GPU with model b200 or h200 (has NVIDIA H100 80GB HBM3, NVIDIA L4)",
        {"asked": "model b200 or h200", "has": ("NVIDIA H100 80GB HBM3", "NVIDIA L4")},
    )


def test_one_of_the_terms_is_enough() -> None:
    assert starts(snapshot([machine("m", 1)], [_asks("b200", "h100")])) == {"a"}


def test_only_gpus_of_the_model_are_given() -> None:
    s = snapshot([machine("m", [card(), L4, card(), L4])], [_asks("L4", count=2)])
    assert gpus_of(s, "a") == [("m/1", "m/3")]


def test_too_few_of_the_model_is_a_matter_of_room() -> None:
    s = snapshot([machine("m", [card(), L4])], [_asks("L4", count=2)])
    assert says(s, "a", "m") == (
        Code.INSUFFICIENT_GPUS,
        "needs 2 GPUs, 1 of 1 matching free",
        {"need": 2, "free": 1, "whole": 1},
    )


def test_runs_of_different_models_do_not_take_each_others_gpus() -> None:
    either = run("b", {"count": 1, "models": ["L4", "H100"]})
    s = snapshot([machine("m", [card(), L4])], [_asks("L4"), either])
    assert gpus_of(s, "a") == [("m/1",)]
    assert gpus_of(s, "b") == [("m/0",)]
