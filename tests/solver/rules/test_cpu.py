from __future__ import annotations

import pytest

from stowplan.model.reasons import Code
from tests.build import machine, run, running, snapshot
from tests.solver.cycles import blames, headline, says, starts


def test_a_run_takes_all_the_cores_that_are_free() -> None:
    s = snapshot([machine("m", cpu_cores=8)], [run("a", cpu_cores=8)])
    assert starts(s) == {"a"}


def test_a_thousandth_of_a_core_too_many_is_too_many() -> None:
    s = snapshot([machine("m", cpu_cores=8, used={"cpu_cores": 1})], [run("a", cpu_cores=7.001)])
    text, numbers = "needs 7.001 cores, 7 of 8 free", {"need": 7.001, "free": 7.0, "whole": 8.0}
    assert says(s, "a", "m") == (Code.INSUFFICIENT_CPU, text, numbers)
    assert headline(s, "a") == (
        Code.INSUFFICIENT_CPU,
        f"the closest, m: {text}",
        {**numbers, "closest": "m"},
    )


def test_more_than_the_whole_machine_is_told_as_such() -> None:
    s = snapshot([machine("m", cpu_cores=8)], [run("a", cpu_cores=8.001)])
    assert blames(s, "a", "m") == (
        Code.INSUFFICIENT_CPU,
        "needs 8.001 cores, 8 of 8 free",
        {"need": 8.001, "free": 8.0, "whole": 8.0},
    )


def test_tenths_of_cores_add_up_exactly() -> None:
    runs = [run(f"r{n:02}", cpu_cores=0.1) for n in range(31)]
    assert len(starts(snapshot([machine("m", cpu_cores=3)], runs))) == 30


def test_the_ask_for_each_gpu_counts_beside_the_fixed_one() -> None:
    asked = run("a", 2, cpu_cores=1, per_gpu={"cpu_cores": 3})
    assert starts(snapshot([machine("m", 2, cpu_cores=7)], [asked])) == {"a"}
    s = snapshot([machine("m", 2, cpu_cores=6.999)], [asked])
    assert says(s, "a", "m").numbers == {"need": 7.0, "free": 6.999, "whole": 6.999}


def test_runs_that_fit_alone_do_not_fit_together() -> None:
    one, other = run("a", cpu_cores=5), run("b", cpu_cores=3)
    assert starts(snapshot([machine("m", cpu_cores=8)], [one, other])) == {"a", "b"}
    assert len(starts(snapshot([machine("m", cpu_cores=7.999)], [one, other]))) == 1


@pytest.mark.parametrize(("free", "fitting"), [(4, 1), (3.999, 0)])
def test_what_runs_hold_and_others_use_is_not_free(free: float, fitting: int) -> None:
    held = running("r", ("m", 1), cpu_cores=1, per_gpu={"cpu_cores": 2})
    used = {"cpu_cores": round(16 - 3 - free, 3)}
    s = snapshot([machine("m", 1, cpu_cores=16, used=used)], [held, run("a", cpu_cores=4)])
    assert len(starts(s)) == fitting


def test_a_run_that_asks_for_no_cores_starts_where_more_are_used_than_there_are() -> None:
    over = machine("m", cpu_cores=8, used={"cpu_cores": 12})
    s = snapshot([over], [run("a"), run("b", cpu_cores=0.001)])
    assert starts(s) == {"a"}
    assert says(s, "b", "m").numbers == {"need": 0.001, "free": 0.0, "whole": 8.0}
