from __future__ import annotations

from stowplan.model.reasons import Code
from tests.build import machine, run, snapshot
from tests.solver.cycles import blames, places, waits


def test_a_run_goes_where_there_is_no_pressure() -> None:
    s = snapshot([machine("m", state="pressure"), machine("n")], [run("a")])
    assert places(s) == {"a": ["n"]}


def test_a_machine_under_pressure_takes_nothing() -> None:
    s = snapshot([machine("m", state="pressure")], [run("a")])
    assert blames(s, "a", "m") == (
        Code.MACHINE_PRESSURE,
        "under pressure (memory or disk)",
        {},
    )
    assert (waits(s, "a").hosts_ready, waits(s, "a").hosts_down) == (0, 0)


def test_a_machine_under_pressure_says_why_where_it_is_told() -> None:
    s = snapshot([machine("m", state="pressure", state_reason="disk 97 % full")], [run("a")])
    assert blames(s, "a", "m").message == "under pressure (disk 97 % full)"


def test_pressure_of_the_cpu_alone_keeps_no_run_out() -> None:
    assert places(snapshot([machine("m", cpu_pressure=True)], [run("a")])) == {"a": ["m"]}
