from __future__ import annotations

from stowplan.model.reasons import Code
from tests.build import GIB, machine, run, running, snapshot
from tests.solver.cycles import headline, says, starts


def test_a_run_takes_all_the_memory_that_is_free() -> None:
    s = snapshot([machine("m", memory_bytes=2 * GIB)], [run("a", memory_bytes=2 * GIB)])
    assert starts(s) == {"a"}


def test_one_byte_too_many_is_too_many() -> None:
    over = 2 * GIB + 1
    s = snapshot([machine("m", memory_bytes=2 * GIB)], [run("a", memory_bytes=over)])
    assert says(s, "a", "m") == (
        Code.INSUFFICIENT_MEMORY,
        "needs 2,147,483,649 bytes of memory, 2,147,483,648 of 2,147,483,648 free",
        {"need_bytes": over, "free_bytes": 2 * GIB, "whole_bytes": 2 * GIB},
    )


def test_memory_that_others_use_is_told_of() -> None:
    used = {"memory_bytes": 3 * GIB // 2}
    s = snapshot([machine("m", memory_bytes=2 * GIB, used=used)], [run("a", memory_bytes=GIB)])
    text = "needs 1 GiB of memory, 0.5 of 2 free"
    numbers = {"need_bytes": GIB, "free_bytes": GIB // 2, "whole_bytes": 2 * GIB}
    assert says(s, "a", "m") == (Code.INSUFFICIENT_MEMORY, text, numbers)
    assert headline(s, "a") == (
        Code.INSUFFICIENT_MEMORY,
        f"the closest, m: {text}",
        {**numbers, "closest": "m"},
    )


def test_the_ask_for_each_gpu_counts_beside_the_fixed_one() -> None:
    asked = run("a", 2, memory_bytes=1, per_gpu={"memory_bytes": 3})
    assert starts(snapshot([machine("m", 2, memory_bytes=7)], [asked])) == {"a"}
    assert starts(snapshot([machine("m", 2, memory_bytes=6)], [asked])) == set()


def test_runs_that_fit_alone_do_not_fit_together() -> None:
    runs = [run("a", memory_bytes=5), run("b", memory_bytes=3)]
    assert starts(snapshot([machine("m", memory_bytes=8)], runs)) == {"a", "b"}
    assert len(starts(snapshot([machine("m", memory_bytes=7)], runs))) == 1


def test_what_runs_hold_is_not_free() -> None:
    held = running("r", ("m", 0), memory_bytes=6)
    s = snapshot([machine("m", memory_bytes=8)], [held, run("a", memory_bytes=3)])
    assert says(s, "a", "m").numbers == {"need_bytes": 3, "free_bytes": 2, "whole_bytes": 8}


def test_memory_that_is_overdrawn_is_none() -> None:
    over = machine("m", memory_bytes=8, used={"memory_bytes": 9})
    s = snapshot([over], [run("a"), run("b", memory_bytes=1)])
    assert starts(s) == {"a"}
    assert says(s, "b", "m").numbers["free_bytes"] == 0


def test_cores_come_before_memory() -> None:
    full = machine("m", used={"cpu_cores": 64, "memory_bytes": 256 * GIB})
    s = snapshot([full], [run("a", cpu_cores=1, memory_bytes=GIB)])
    assert headline(s, "a").code == Code.INSUFFICIENT_CPU
