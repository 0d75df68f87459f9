from __future__ import annotations

from stowplan.model.reasons import Code
from tests.build import Document, card, machine, run, running, snapshot
from tests.solver.cycles import blames, gpus_of, places, starts


def _denies(gpus: int | list[Document], *ids: str) -> Document:
    return machine("m", gpus, constraints={"denied_devices": list(ids)})


def test_only_gpus_that_are_not_withheld_are_given() -> None:
    s = snapshot([_denies(4, "m/0", "m/2")], [run("a", 2)])
    assert gpus_of(s, "a") == [("m/1", "m/3")]


def test_withheld_gpus_that_would_have_made_it_enough_are_the_reason() -> None:
    s = snapshot([_denies(4, "m/0", "m/2")], [run("a", 3)])
    assert blames(s, "a", "m") == (
        Code.GPU_DENIED,
        "needs 3 GPUs, 2 free (2 more free but withheld)",
        {"need": 3, "free": 2, "denied": 2},
    )


def test_too_few_gpus_with_the_withheld_ones_is_a_matter_of_room() -> None:
    s = snapshot([_denies(4, "m/0", "m/2")], [run("a", 5)])
    assert blames(s, "a", "m") == (
        Code.INSUFFICIENT_GPUS,
        "needs 5 GPUs, 2 of 4 free",
        {"need": 5, "free": 2, "whole": 4},
    )


def test_a_withheld_gpu_is_not_given_to_a_run_that_pins_it() -> None:
    s = snapshot([_denies(2, "m/0")], [run("a", {"ids": ["m/0"]})])
    assert blames(s, "a", "m").code == Code.GPU_DENIED


def test_an_id_that_no_gpu_has_withholds_nothing() -> None:
    assert starts(snapshot([_denies(2, "m/9")], [run("a", 2)])) == {"a"}


def test_a_withheld_gpu_that_is_faulted_counts_as_neither() -> None:
    cards = [card(), card(health="faulted")]
    s = snapshot([_denies(cards, "m/1")], [run("a", 2)])
    assert blames(s, "a", "m").code == Code.INSUFFICIENT_GPUS


def test_a_run_keeps_a_gpu_that_has_been_withheld_since() -> None:
    s = snapshot([_denies(2, "m/0")], [running("r", ("m", 1)), run("a", 1)])
    assert places(s) == {"a": ["m"]}


def test_two_runs_that_fit_alone_do_not_fit_beside_a_withheld_gpu() -> None:
    s = snapshot([_denies(4, "m/0")], [run("a", 2), run("b", 2)])
    assert len(starts(s)) == 1
