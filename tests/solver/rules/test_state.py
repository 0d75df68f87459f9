from __future__ import annotations

from stowplan.model.reasons import Code
from tests.build import GIB, machine, run, snapshot
from tests.solver.cycles import blames, row, says, starts, waits


def test_a_run_starts_on_a_machine_that_is_up() -> None:
    assert starts(snapshot([machine("m")], [run("a", cpu_cores=1)])) == {"a"}


def test_a_machine_that_is_down_takes_nothing() -> None:
    s = snapshot([machine("m", state="down"), machine("n", cpu_cores=1)], [run("a", cpu_cores=2)])
    assert says(s, "a", "m") == (Code.MACHINE_DOWN, "down", {})
    assert waits(s, "a").hosts_down == 1


def test_a_machine_that_is_down_says_why_where_it_is_told() -> None:
    s = snapshot([machine("m", state="down", state_reason="no heartbeat")], [run("a")])
    assert blames(s, "a", "m") == (Code.MACHINE_DOWN, "down: no heartbeat", {})


def test_a_machine_that_reports_no_capacity_is_as_good_as_down() -> None:
    s = snapshot([{"name": "m", "cpu_cores": 0, "memory_bytes": 0}], [run("a")])
    assert blames(s, "a", "m") == (
        Code.MACHINE_DOWN,
        "no cores, no memory and no GPUs reported",
        {},
    )
    assert waits(s, "a").hosts_down == 0  # its state isn't down: something answers there


def test_cores_or_memory_or_gpus_alone_are_capacity() -> None:
    cores = machine("m", cpu_cores=0.001, memory_bytes=0)
    memory = machine("m", cpu_cores=0, memory_bytes=1)
    gpus = machine("m", 1, cpu_cores=0, memory_bytes=0)
    for some in (cores, memory, gpus):
        assert starts(snapshot([some], [run("a")])) == {"a"}


def test_a_machine_that_is_down_is_never_the_closest() -> None:
    machines = [machine("m", state="down"), machine("n", used={"memory_bytes": 256 * GIB})]
    s = snapshot(machines, [run("a", memory_bytes=GIB)])
    assert waits(s, "a").closest == "n"


def test_the_state_decides_before_all_other_reasons() -> None:
    s = snapshot([machine("m", state="down")], [run("a", 1, needs=["net"])])
    assert [reason.code for reason in row(s, "a", "m")] == [
        Code.MACHINE_DOWN,
        Code.CAPABILITY_MISSING,
        Code.NO_MATCHING_GPU,
    ]
