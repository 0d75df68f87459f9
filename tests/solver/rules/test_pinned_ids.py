from __future__ import annotations

from stowplan.model.reasons import Code
from tests.build import Document, card, machine, market, offering, run, running, snapshot
from tests.solver.cycles import blames, gpus_of, headline, places, row, starts


def _pins(*ids: str, name: str = "a") -> Document:
    return run(name, {"ids": list(ids)})


def test_a_run_gets_exactly_the_gpus_that_it_pins() -> None:
    s = snapshot([machine("l", 4), machine("m", 4)], [_pins("m/3", "m/1")])
    assert gpus_of(s, "a") == [("m/1", "m/3")]


def test_a_machine_without_a_pinned_gpu_is_refused() -> None:
    s = snapshot([machine("m", 2)], [_pins("m/2", "m/0", "m/7")])
    text, numbers = "without the pinned GPU m/2, m/7", {"missing": ("m/2", "m/7")}
    assert row(s, "a", "m")[0] == (Code.NO_MATCHING_GPU, text, numbers)
    assert headline(s, "a") == (Code.NO_MATCHING_GPU, f"m: {text}", numbers)


def test_pinned_gpus_of_two_machines_are_on_neither() -> None:
    s = snapshot([machine("m", 1), machine("n", 1)], [_pins("m/0", "n/0")])
    assert row(s, "a", "m")[0].numbers == {"missing": ("n/0",)}
    assert row(s, "a", "n")[0].numbers == {"missing": ("m/0",)}


def test_a_pinned_gpu_that_is_not_as_asked_is_refused_though_another_would_do() -> None:
    small = card(model="NVIDIA L4")
    asked = run("a", {"ids": ["m/0", "m/1"], "models": ["L4"]})
    s = snapshot([machine("m", [card(), small, small])], [asked])
    text = "pinned GPU m/0 not of the model, vendor or memory asked for"
    assert row(s, "a", "m")[0] == (Code.NO_MATCHING_GPU, text, {"unlike": ("m/0",)})
    assert headline(s, "a") == (Code.NO_MATCHING_GPU, f"m: {text}", {"unlike": ("m/0",)})


def test_a_pinned_gpu_that_a_run_holds_is_busy() -> None:
    s = snapshot([machine("m", 3)], [running("r", ("m", 1)), _pins("m/0", "m/1")])
    text, numbers = "pinned GPU m/0 not free", {"busy": ("m/0",)}
    assert row(s, "a", "m")[0] == (Code.PINNED_GPU_BUSY, text, numbers)
    assert headline(s, "a").code == Code.PINNED_GPU_BUSY


def test_two_runs_that_pin_one_gpu_do_not_both_start() -> None:
    s = snapshot([machine("m", 2)], [_pins("m/0"), _pins("m/0", name="b")])
    (winner,) = starts(s)
    assert headline(s, "b" if winner == "a" else "a") == (
        Code.OUTCOMPETED,
        f"fits alone; the room went to {winner}",
        {"runs": (winner,)},
    )


def test_a_pinned_gpu_is_left_to_the_run_that_pins_it() -> None:
    s = snapshot([machine("m", 2)], [run("b", 1), _pins("m/0")])
    assert gpus_of(s, "a") == [("m/0",)]
    assert gpus_of(s, "b") == [("m/1",)]


def test_a_pinned_gpu_may_be_at_risk_and_never_faulted() -> None:
    cards = [card(health="at_risk"), card(health="faulted")]
    s = snapshot([machine("m", cards)], [_pins("m/0"), _pins("m/1", name="b")])
    assert gpus_of(s, "a") == [("m/0",)]
    assert blames(s, "b", "m") == (
        Code.GPU_FAULTED,
        "needs 1 GPU, 0 free (1 more free but faulted)",
        {"need": 1, "free": 0, "faulted": 1},
    )


def test_the_same_id_on_two_machines_pins_either() -> None:
    machines = [machine("m", [card(id="g0")], state="down"), machine("n", [card(id="g0")])]
    assert places(snapshot(machines, [_pins("g0")])) == {"a": ["n"]}


def test_an_offering_never_has_a_gpu_that_is_pinned() -> None:
    # Its GPUs will be 0, 1 ...: whoever pins those means a machine's.
    s = market(offering("o"), runs=[_pins("0")])
    assert row(s, "a", "o")[0] == (
        Code.NO_MATCHING_GPU, "without the pinned GPU 0", {"missing": ("0",)},
    )  # fmt: skip
    s = market(offering("o"), runs=[_pins("m/0")], machines=[machine("m", 1)])
    assert gpus_of(s, "a") == [("m/0",)]
