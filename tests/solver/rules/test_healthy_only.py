from __future__ import annotations

from stowplan.model.reasons import Code
from tests.build import Document, card, machine, run, running, snapshot
from tests.solver.cycles import blames, gpus_of, headline, starts

RISKY = card(health="at_risk")
UNKNOWN = card(health="unknown")


def _healthy(count: int, name: str = "a") -> Document:
    return run(name, {"count": count, "healthy_only": True})


def test_a_run_gets_only_gpus_that_show_no_sign_of_failing() -> None:
    s = snapshot([machine("m", [RISKY, UNKNOWN, RISKY, card()])], [_healthy(2)])
    assert gpus_of(s, "a") == [("m/3", "m/1")]


def test_gpus_at_risk_that_would_have_made_it_enough_are_the_reason() -> None:
    s = snapshot([machine("m", [RISKY, card(), RISKY])], [_healthy(2)])
    assert blames(s, "a", "m") == (
        Code.INSUFFICIENT_HEALTHY_GPUS,
        "needs 2 healthy GPUs, 1 free (2 more free but at risk)",
        {"need": 2, "healthy_free": 1, "at_risk_free": 2},
    )


def test_gpus_at_risk_that_would_have_made_it_just_enough_are_the_one_reason() -> None:
    s = snapshot([machine("m", [RISKY, card()])], [_healthy(2)])
    assert blames(s, "a", "m").numbers == {"need": 2, "healthy_free": 1, "at_risk_free": 1}


def test_too_few_gpus_of_any_health_is_told_with_the_same_numbers() -> None:
    s = snapshot([machine("m", [RISKY, card()])], [_healthy(3)])
    assert blames(s, "a", "m") == (
        Code.INSUFFICIENT_HEALTHY_GPUS,
        "needs 3 healthy GPUs, 1 free (1 more free but at risk)",
        {"need": 3, "healthy_free": 1, "at_risk_free": 1},
    )


def test_healthy_gpus_that_are_held_are_not_free() -> None:
    s = snapshot([machine("m", [card(), card()])], [running("r", ("m", 1)), _healthy(2)])
    assert blames(s, "a", "m") == (
        Code.INSUFFICIENT_HEALTHY_GPUS,
        "needs 2 healthy GPUs, 1 free",
        {"need": 2, "healthy_free": 1, "at_risk_free": 0},
    )


def test_a_run_that_does_not_ask_for_health_may_be_given_gpus_at_risk() -> None:
    assert starts(snapshot([machine("m", [RISKY, RISKY])], [run("a", 2)])) == {"a"}


def test_the_healthy_gpu_goes_to_the_run_that_asks_for_health() -> None:
    for runs in ([run("a", 1), _healthy(1, "b")], [_healthy(1, "b"), run("a", 1)]):
        s = snapshot([machine("m", [card(), RISKY])], runs)
        assert gpus_of(s, "a") == [("m/1",)]
        assert gpus_of(s, "b") == [("m/0",)]


def test_two_runs_that_each_find_healthy_gpus_do_not_both() -> None:
    s = snapshot([machine("m", [card(), card(), RISKY, RISKY])], [_healthy(2), _healthy(1, "b")])
    assert starts(s) == {"a"}
    assert headline(s, "b").code == Code.OUTCOMPETED
